import type { JSONSchemaProps } from '@crosstie/cel/kubernetes'
import { Printed, printJson } from '@crosstie/cel/kubernetes'
import { equal } from '../../json.js'
import type {
  Conversion,
  DefinitionNames,
  DefinitionSpec,
  DefinitionSubresources,
  DefinitionVersion,
  PrinterColumn,
  WebhookClientConfig,
} from './types.js'

/**
 * The internal form in which kube-apiserver validates a definition. Parts that all versions share are at the top,
 * so errors refer to fields such as `spec.validation.openAPIV3Schema`, which v1 does not have.
 */
export interface InternalSpec {
  readonly group: string
  readonly names: DefinitionNames
  readonly scope: string
  readonly versions: readonly DefinitionVersion[]
  readonly statesVersions: boolean
  readonly validation: { readonly openAPIV3Schema?: JSONSchemaProps } | undefined
  readonly subresources: DefinitionSubresources | undefined
  readonly columns: readonly PrinterColumn[]
  readonly selectableFields: readonly { readonly jsonPath?: string }[]
  readonly conversion:
    | {
        readonly strategy: string
        readonly clientConfig: WebhookClientConfig | undefined
        readonly reviewVersions: readonly string[]
      }
    | undefined
  readonly preserveUnknownFields: boolean
}

/** The names of a definition that does not state any. */
export const noNames: DefinitionNames = { plural: '', kind: '' }

/** Converts the spec of a definition to its internal form. */
export function toInternal(spec: DefinitionSpec): InternalSpec {
  const versions = spec.versions ?? []
  const shared = <T>(read: (version: DefinitionVersion) => T): T | undefined => {
    const first = versions[0] && read(versions[0])
    return versions.every((version) => equal(read(version), first)) ? first : undefined
  }
  const schema = shared((version) => version.schema)
  const subresources = shared((version) => version.subresources)
  const columns = shared((version) => version.additionalPrinterColumns ?? []) ?? []
  const selectableFields = shared((version) => version.selectableFields ?? []) ?? []
  return {
    group: spec.group ?? '',
    names: spec.names ?? noNames,
    scope: spec.scope ?? '',
    versions: versions.map((version) => ({
      ...version,
      ...(schema ? { schema: undefined } : {}),
      ...(subresources ? { subresources: undefined } : {}),
      ...(columns.length > 0 ? { additionalPrinterColumns: undefined } : {}),
      ...(selectableFields.length > 0 ? { selectableFields: undefined } : {}),
    })),
    statesVersions: Array.isArray(spec.versions),
    validation: schema,
    subresources,
    columns,
    selectableFields,
    conversion: spec.conversion && internalConversion(spec.conversion),
    preserveUnknownFields: spec.preserveUnknownFields === true,
  }
}

function internalConversion(conversion: Conversion): InternalSpec['conversion'] {
  return {
    strategy: conversion.strategy ?? '',
    clientConfig: conversion.webhook?.clientConfig,
    reviewVersions: conversion.webhook?.conversionReviewVersions ?? [],
  }
}

/** Returns all schemas of the definition. */
export function schemasOf(spec: InternalSpec): JSONSchemaProps[] {
  const schemas = [spec.validation, ...spec.versions.map((version) => version.schema)]
  return schemas.flatMap((validation) => validation?.openAPIV3Schema ?? [])
}

// Some errors print a part of the definition. kube-apiserver prints its internal types, which have the field names
// of Go and no omitted fields.

type Print = (value: never) => string
type Fields = readonly (readonly [name: string, key: string, print: Print])[]

const text: Print = (value: string | undefined) => printJson(value ?? '')
const flag: Print = (value: boolean | undefined) => String(value === true)
const json: Print = (value: unknown) => printJson(value ?? null)
const list = (print: Print): Print =>
  ((value: readonly never[] | undefined) => (value ? `[${value.map(print).join(',')}]` : 'null')) as Print
const map = (print: Print): Print =>
  ((value: Readonly<Record<string, never>> | undefined) => {
    if (!value) return 'null'
    const keys = Object.keys(value).sort()
    return `{${keys.map((key) => `${printJson(key)}:${print(value[key]!)}`).join(',')}}`
  }) as Print
const struct = (fields: () => Fields): Print =>
  ((value: Readonly<Record<string, never>> | undefined) => {
    if (!value) return 'null'
    return `{${fields()
      .map(([name, key, print]) => `"${name}":${print(value[key]!)}`)
      .join(',')}}`
  }) as Print

const schemaPrint = struct(() => schemaFields)
const boolOrSchema = ((value: JSONSchemaProps | boolean | undefined) => {
  if (value === undefined || value === null) return 'null'
  if (typeof value === 'boolean') return `{"Allows":${value},"Schema":null}`
  return `{"Allows":true,"Schema":${schemaPrint(value as never)}}`
}) as Print
const itemsPrint = ((value: JSONSchemaProps | readonly JSONSchemaProps[] | undefined) => {
  if (!value) return 'null'
  if (Array.isArray(value)) return `{"Schema":null,"JSONSchemas":${list(schemaPrint)(value as never)}}`
  return `{"Schema":${schemaPrint(value as never)},"JSONSchemas":null}`
}) as Print

const ruleFields: Fields = [
  ['Rule', 'rule', text],
  ['Message', 'message', text],
  ['MessageExpression', 'messageExpression', text],
  ['Reason', 'reason', json],
  ['FieldPath', 'fieldPath', text],
  ['OptionalOldSelf', 'optionalOldSelf', json],
]

const schemaFields: Fields = [
  ['ID', 'id', text],
  ['Schema', '$schema', text],
  ['Ref', '$ref', json],
  ['Description', 'description', text],
  ['Type', 'type', text],
  ['Nullable', 'nullable', flag],
  ['Format', 'format', text],
  ['Title', 'title', text],
  ['Default', 'default', json],
  ['Maximum', 'maximum', json],
  ['ExclusiveMaximum', 'exclusiveMaximum', flag],
  ['Minimum', 'minimum', json],
  ['ExclusiveMinimum', 'exclusiveMinimum', flag],
  ['MaxLength', 'maxLength', json],
  ['MinLength', 'minLength', json],
  ['Pattern', 'pattern', text],
  ['MaxItems', 'maxItems', json],
  ['MinItems', 'minItems', json],
  ['UniqueItems', 'uniqueItems', flag],
  ['MultipleOf', 'multipleOf', json],
  ['Enum', 'enum', json],
  ['MaxProperties', 'maxProperties', json],
  ['MinProperties', 'minProperties', json],
  ['Required', 'required', json],
  ['Items', 'items', itemsPrint],
  ['AllOf', 'allOf', list(schemaPrint)],
  ['OneOf', 'oneOf', list(schemaPrint)],
  ['AnyOf', 'anyOf', list(schemaPrint)],
  ['Not', 'not', schemaPrint],
  ['Properties', 'properties', map(schemaPrint)],
  ['AdditionalProperties', 'additionalProperties', boolOrSchema],
  ['PatternProperties', 'patternProperties', map(schemaPrint)],
  ['Dependencies', 'dependencies', json],
  ['AdditionalItems', 'additionalItems', boolOrSchema],
  ['Definitions', 'definitions', map(schemaPrint)],
  [
    'ExternalDocs',
    'externalDocs',
    struct(() => [
      ['Description', 'description', text],
      ['URL', 'url', text],
    ]),
  ],
  ['Example', 'example', json],
  ['XPreserveUnknownFields', 'x-kubernetes-preserve-unknown-fields', json],
  ['XEmbeddedResource', 'x-kubernetes-embedded-resource', flag],
  ['XIntOrString', 'x-kubernetes-int-or-string', flag],
  ['XListMapKeys', 'x-kubernetes-list-map-keys', json],
  ['XListType', 'x-kubernetes-list-type', json],
  ['XMapType', 'x-kubernetes-map-type', json],
  ['XValidations', 'x-kubernetes-validations', list(struct(() => ruleFields))],
]

const number: Print = (value: number | undefined) => String(value ?? 0)

const versionPrint = struct(() => [
  ['Name', 'name', text],
  ['Served', 'served', flag],
  ['Storage', 'storage', flag],
  ['Deprecated', 'deprecated', flag],
  ['DeprecationWarning', 'deprecationWarning', json],
  ['Schema', 'schema', struct(() => [['OpenAPIV3Schema', 'openAPIV3Schema', schemaPrint]])],
  [
    'Subresources',
    'subresources',
    struct(() => [
      ['Status', 'status', struct(() => [])],
      [
        'Scale',
        'scale',
        struct(() => [
          ['SpecReplicasPath', 'specReplicasPath', text],
          ['StatusReplicasPath', 'statusReplicasPath', text],
          ['LabelSelectorPath', 'labelSelectorPath', json],
        ]),
      ],
    ]),
  ],
  [
    'AdditionalPrinterColumns',
    'additionalPrinterColumns',
    list(
      struct(() => [
        ['Name', 'name', text],
        ['Type', 'type', text],
        ['Format', 'format', text],
        ['Description', 'description', text],
        ['Priority', 'priority', number],
        ['JSONPath', 'jsonPath', text],
      ]),
    ),
  ],
  ['SelectableFields', 'selectableFields', list(struct(() => [['JSONPath', 'jsonPath', text]]))],
])

/** Prints the versions. A missing list differs from an empty one. */
export function printVersions({ versions, statesVersions }: InternalSpec): Printed {
  return new Printed(list(versionPrint)((statesVersions ? versions : undefined) as never))
}

/** Prints a schema as its internal Go type. */
export function printSchema(schema: JSONSchemaProps): Printed {
  return new Printed(schemaPrint(schema as never))
}

/** Prints `items` as its internal Go type. */
export function printItems(items: JSONSchemaProps['items']): Printed {
  return new Printed(itemsPrint(items as never))
}
