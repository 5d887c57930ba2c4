import protobuf from 'protobufjs'

/**
 * The messages of the Terraform plugin protocol that we use, for versions 5 and 6. Each field is `type number`; `[]`
 * before a type is a repeated field and `{}` a map from string. Field numbers are the protocol's.
 */
type Table = Readonly<Record<string, Readonly<Record<string, string>>>>

const shared: Table = {
  DynamicValue: { msgpack: 'bytes 1', json: 'bytes 2' },
  Diagnostic: { severity: 'int32 1', summary: 'string 2', detail: 'string 3', attribute: 'AttributePath 4' },
  AttributePath: { steps: '[]Step 1' },
  Step: { attributeName: 'string 1', elementKeyString: 'string 2', elementKeyInt: 'int64 3' },
  RawState: { json: 'bytes 1', flatmap: '{}string 2' },
  Schema: { version: 'int64 1', block: 'Block 2' },
  Block: {
    version: 'int64 1',
    attributes: '[]Attribute 2',
    blockTypes: '[]NestedBlock 3',
    description: 'string 4',
    deprecated: 'bool 6',
  },
  NestedBlock: {
    typeName: 'string 1',
    block: 'Block 2',
    nesting: 'int32 3',
    minItems: 'int64 4',
    maxItems: 'int64 5',
  },
  IdentitySchema: { version: 'int64 1', identityAttributes: '[]IdentityAttribute 2' },
  IdentityAttribute: { name: 'string 1', type: 'bytes 2', requiredForImport: 'bool 3', optionalForImport: 'bool 4' },
  Identity: { identityData: 'DynamicValue 1' },
  ServerCapabilities: { planDestroy: 'bool 1', getProviderSchemaOptional: 'bool 2', moveResourceState: 'bool 3' },
  ClientCapabilities: { deferralAllowed: 'bool 1', writeOnlyAttributesAllowed: 'bool 2' },
  Deferred: { reason: 'int32 1' },
  Empty: {},
  SchemaResponse: {
    provider: 'Schema 1',
    resourceSchemas: '{}Schema 2',
    dataSourceSchemas: '{}Schema 3',
    diagnostics: '[]Diagnostic 4',
    providerMeta: 'Schema 5',
    serverCapabilities: 'ServerCapabilities 6',
    ephemeralResourceSchemas: '{}Schema 8',
    listResourceSchemas: '{}Schema 9',
  },
  IdentitySchemasResponse: { identitySchemas: '{}IdentitySchema 1', diagnostics: '[]Diagnostic 2' },
  ProviderConfigRequest: { config: 'DynamicValue 1' },
  ProviderConfigResponse: { preparedConfig: 'DynamicValue 1', diagnostics: '[]Diagnostic 2' },
  ConfigureRequest: {
    terraformVersion: 'string 1',
    config: 'DynamicValue 2',
    clientCapabilities: 'ClientCapabilities 3',
  },
  DiagnosticsResponse: { diagnostics: '[]Diagnostic 1' },
  ValidateRequest: { typeName: 'string 1', config: 'DynamicValue 2', clientCapabilities: 'ClientCapabilities 3' },
  UpgradeRequest: { typeName: 'string 1', version: 'int64 2', rawState: 'RawState 3' },
  UpgradeResponse: { upgradedState: 'DynamicValue 1', diagnostics: '[]Diagnostic 2' },
  UpgradeIdentityResponse: { upgradedIdentity: 'Identity 1', diagnostics: '[]Diagnostic 2' },
  ReadRequest: {
    typeName: 'string 1',
    currentState: 'DynamicValue 2',
    private: 'bytes 3',
    providerMeta: 'DynamicValue 4',
    clientCapabilities: 'ClientCapabilities 5',
    currentIdentity: 'Identity 6',
  },
  ReadResponse: {
    newState: 'DynamicValue 1',
    diagnostics: '[]Diagnostic 2',
    private: 'bytes 3',
    deferred: 'Deferred 4',
    newIdentity: 'Identity 5',
  },
  PlanRequest: {
    typeName: 'string 1',
    priorState: 'DynamicValue 2',
    proposedNewState: 'DynamicValue 3',
    config: 'DynamicValue 4',
    priorPrivate: 'bytes 5',
    providerMeta: 'DynamicValue 6',
    clientCapabilities: 'ClientCapabilities 7',
    priorIdentity: 'Identity 8',
  },
  PlanResponse: {
    plannedState: 'DynamicValue 1',
    requiresReplace: '[]AttributePath 2',
    plannedPrivate: 'bytes 3',
    diagnostics: '[]Diagnostic 4',
    legacyTypeSystem: 'bool 5',
    deferred: 'Deferred 6',
    plannedIdentity: 'Identity 7',
  },
  ApplyRequest: {
    typeName: 'string 1',
    priorState: 'DynamicValue 2',
    plannedState: 'DynamicValue 3',
    config: 'DynamicValue 4',
    plannedPrivate: 'bytes 5',
    providerMeta: 'DynamicValue 6',
    plannedIdentity: 'Identity 7',
  },
  ApplyResponse: {
    newState: 'DynamicValue 1',
    private: 'bytes 2',
    diagnostics: '[]Diagnostic 3',
    legacyTypeSystem: 'bool 4',
    newIdentity: 'Identity 5',
  },
  ImportRequest: {
    typeName: 'string 1',
    id: 'string 2',
    clientCapabilities: 'ClientCapabilities 3',
    identity: 'Identity 4',
  },
  ImportedResource: { typeName: 'string 1', state: 'DynamicValue 2', private: 'bytes 3', identity: 'Identity 4' },
  ImportResponse: {
    importedResources: '[]ImportedResource 1',
    diagnostics: '[]Diagnostic 2',
    deferred: 'Deferred 3',
  },
  ReadDataRequest: {
    typeName: 'string 1',
    config: 'DynamicValue 2',
    providerMeta: 'DynamicValue 3',
    clientCapabilities: 'ClientCapabilities 4',
  },
  ReadDataResponse: { state: 'DynamicValue 1', diagnostics: '[]Diagnostic 2', deferred: 'Deferred 3' },
  ListRequest: { typeName: 'string 1', config: 'DynamicValue 2', includeResourceObject: 'bool 3', limit: 'int64 4' },
  ListEvent: {
    identity: 'Identity 1',
    displayName: 'string 2',
    resourceObject: 'DynamicValue 3',
    diagnostic: '[]Diagnostic 4',
  },
  StopResponse: { error: 'string 1' },
}

const attribute = {
  name: 'string 1',
  type: 'bytes 2',
  description: 'string 3',
  required: 'bool 4',
  optional: 'bool 5',
  computed: 'bool 6',
  sensitive: 'bool 7',
  deprecated: 'bool 9',
}

/** An attribute is the only message whose fields differ between the versions. */
const tables: Readonly<Record<5 | 6, Table>> = {
  5: { ...shared, Attribute: { ...attribute, writeOnly: 'bool 10' } },
  6: {
    ...shared,
    Attribute: { ...attribute, nestedType: 'Object 10', writeOnly: 'bool 11' },
    Object: { attributes: '[]Attribute 1', nesting: 'int32 3' },
  },
}

function rootOf(table: Table): protobuf.Root {
  const nested = Object.fromEntries(
    Object.entries(table).map(([name, fields]) => [
      name,
      { fields: Object.fromEntries(Object.entries(fields).map(([field, text]) => [field, fieldOf(text)])) },
    ]),
  )
  return protobuf.Root.fromJSON({ nested } as protobuf.INamespace).resolveAll() as protobuf.Root
}

function fieldOf(text: string): protobuf.IField | protobuf.IMapField {
  const [, prefix, type, id] = /^(\[\]|\{\})?(\w+) (\d+)$/.exec(text)!
  const field = { type: type!, id: Number(id) }
  if (prefix === '{}') return { ...field, keyType: 'string' }
  return prefix === '[]' ? { ...field, rule: 'repeated' } : field
}

const roots = new Map<number, protobuf.Root>()

/** The codec of one message of one protocol version. */
export function messageType(protocol: 5 | 6, name: string): protobuf.Type {
  let root = roots.get(protocol)
  if (!root) {
    root = rootOf(tables[protocol])
    roots.set(protocol, root)
  }
  return root.lookupType(name)
}

type Int64 = number | { toString(): string }

export interface WireValue {
  readonly msgpack?: Uint8Array
  readonly json?: Uint8Array
}

export interface WireAttribute {
  readonly name: string
  readonly type?: Uint8Array
  readonly nestedType?: WireObject | null
  readonly description?: string
  readonly required?: boolean
  readonly optional?: boolean
  readonly computed?: boolean
  readonly sensitive?: boolean
  readonly writeOnly?: boolean
  readonly deprecated?: boolean
}

export interface WireObject {
  readonly attributes?: readonly WireAttribute[]
  readonly nesting?: number
}

export interface WireBlock {
  readonly attributes?: readonly WireAttribute[]
  readonly blockTypes?: readonly {
    readonly typeName: string
    readonly block?: WireBlock | null
    readonly nesting?: number
    readonly minItems?: Int64
    readonly maxItems?: Int64
  }[]
  readonly description?: string
  readonly deprecated?: boolean
}

export interface WireSchema {
  readonly version?: Int64
  readonly block?: WireBlock | null
}

export interface WireIdentitySchema {
  readonly version?: Int64
  readonly identityAttributes?: readonly {
    readonly name: string
    readonly type?: Uint8Array
    readonly requiredForImport?: boolean
  }[]
}

export interface WirePath {
  readonly steps?: readonly {
    readonly attributeName?: string
    readonly elementKeyString?: string
    readonly elementKeyInt?: Int64
  }[]
}

export interface WireDiagnostic {
  readonly severity?: number
  readonly summary?: string
  readonly detail?: string
  readonly attribute?: WirePath | null
}

export interface WireIdentity {
  readonly identityData?: WireValue | null
}
