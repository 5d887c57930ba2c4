import type { KubeObject, ResourceType } from '@crosstie/kube'
import type { JSONSchemaProps } from '@crosstie/kube/schema'
import { CONVERSION_PATH, type ConversionEndpoint } from './conversion/endpoint.js'
import { openApiOf, resolutionPolicy, unionOf } from './openapi.js'
import { ignoreChangesSchema } from './paths.js'
import { oldPolicyNames, policyNames } from './policies.js'
import { contradictoryPolicies, immutableRules, knownPolicy, noRepeatedPolicy, requiredRules } from './rules.js'
import type { Node } from './schema.js'

/** The input for the CRD of a kind. */
export interface KindShape {
  readonly type: ResourceType
  readonly alsoServed: readonly string[]
  readonly categories: readonly string[]
  readonly shortNames: readonly string[]
  readonly doc: string
  readonly parameters: Node
  readonly observation: Node
  /** Additional versions with different fields. */
  readonly versions?: readonly { readonly version: string; readonly parameters: Node; readonly observation: Node }[]
}

const text = (description: string, more: Partial<JSONSchemaProps> = {}): JSONSchemaProps => ({
  type: 'string',
  description,
  ...more,
})

function named(description: string, more: Record<string, JSONSchemaProps> = {}): JSONSchemaProps {
  return { type: 'object', description, required: ['name'], properties: { name: text('Its name.'), ...more } }
}

const partsOfReference = {
  apiVersion: 'Its group and version.',
  kind: 'Its kind.',
  name: 'Its name.',
  namespace: 'Its namespace, if it has one.',
  uid: 'Its uid: another object of the same name is not meant.',
}

/** Returns the schema of a reference to an object. */
export const referenceSchema = (
  description: string,
  parts: readonly (keyof typeof partsOfReference)[] = ['apiVersion', 'kind', 'name', 'uid'],
): JSONSchemaProps => ({
  type: 'object',
  description,
  properties: Object.fromEntries(parts.map((part) => [part, text(partsOfReference[part])])),
})

const objectReference = (description: string): JSONSchemaProps =>
  referenceSchema(description, ['apiVersion', 'kind', 'name', 'namespace', 'uid'])

/** Returns the schema of a label selector. */
export const labelSelectorSchema = (description: string): JSONSchemaProps => ({
  type: 'object',
  description,
  properties: {
    matchLabels: {
      type: 'object',
      description: 'All of these labels must be there.',
      additionalProperties: { type: 'string' },
    },
  },
})

/** The fields of `spec` that every managed kind has. */
export const controlFields: Readonly<Record<string, JSONSchemaProps>> = {
  managementPolicies: {
    type: 'array',
    description:
      'The actions that are allowed on the external resource: any of Observe, Create, Update, Delete, LateInitialize, or "*" for all. An empty list pauses.',
    default: ['*'],
    maxItems: policyNames.length,
    items: { type: 'string', maxLength: 64, 'x-kubernetes-validations': [knownPolicy] },
    'x-kubernetes-validations': [noRepeatedPolicy],
  },
  managementPolicy: text(
    'Deprecated: use managementPolicies. `crosstie migrate` rewrites manifests and live objects.',
    {
      enum: [...oldPolicyNames],
    },
  ),
  deletionPolicy: text(
    'Deprecated: use managementPolicies. Orphan leaves the external resource when this is deleted.',
    {
      default: 'Delete',
      enum: ['Orphan', 'Delete'],
    },
  ),
  providerConfigRef: {
    ...named('The ProviderConfig to use.', { policy: resolutionPolicy }),
    default: { name: 'default' },
  },
  writeConnectionSecretToRef: {
    type: 'object',
    description: 'The Secret that connection details are written to.',
    required: ['name', 'namespace'],
    properties: { name: text('Name of the Secret.'), namespace: text('Namespace of the Secret.') },
  },
  claimRef: objectReference('The claim that this is bound to.'),
  classRef: objectReference('The class that this was provisioned by.'),
  aggregateRef: objectReference('The aggregate that this belongs to.'),
  reclaimPolicy: text('What becomes of this when its claim goes away.', { enum: ['Delete', 'Retain'] }),
  adoptionPolicy: text(
    'Whether this may manage an external resource that exists already and that it did not create. Deny: never. Allow: ' +
      'yes, but deleting this does not delete the external resource. AllowAndDelete: yes, and deleting this deletes it. ' +
      'Default: Deny for a resource that a class provisioned for a claim, AllowAndDelete for all others.',
    { enum: ['Deny', 'Allow', 'AllowAndDelete'] },
  ),
}

/** The schema of `status.bindingPhase`. */
export const bindingPhaseSchema: JSONSchemaProps = text('How far binding to a claim or an aggregate is.', {
  enum: ['Unbindable', 'Unbound', 'Bound', 'Released'],
})

/** The schema of `status.observedGeneration`. */
export const observedGenerationSchema: JSONSchemaProps = {
  type: 'integer',
  format: 'int64',
  description: 'The metadata.generation that this status tells of.',
}

/** The schema of `status.conditions`. */
export const conditionsSchema: JSONSchemaProps = {
  type: 'array',
  description: 'How it is: Ready, Synced and others, each with the reason.',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: {
    type: 'object',
    required: ['lastTransitionTime', 'reason', 'status', 'type'],
    properties: {
      lastTransitionTime: text('Since when the status is what it is.', { format: 'date-time' }),
      message: text('For people: what happened, and what to do about it.'),
      observedGeneration: { ...observedGenerationSchema, description: 'The metadata.generation that it tells of.' },
      reason: text('For programs: why, in one word.'),
      status: text('True, False or Unknown.'),
      type: text('What it tells of, such as Ready.'),
    },
  },
}

/**
 * Returns the CRD of a managed kind. Versions with different fields are included only if a conversion endpoint is
 * given. Without conversion, the API server would prune fields that a version does not define.
 */
export function managedCrd(shape: KindShape, conversion?: ConversionEndpoint): KubeObject {
  const others = conversion ? (shape.versions ?? []) : []
  return crd(shape.type, {
    alsoServed: shape.alsoServed,
    categories: shape.categories,
    shortNames: shape.shortNames,
    schema: managedSchema(shape),
    columns: [
      column('READY', "{.status.conditions[?(@.type=='Ready')].status}"),
      column('SYNCED', "{.status.conditions[?(@.type=='Synced')].status}"),
      column('EXTERNAL-NAME', '{.metadata.annotations.crossplane\\.io/external-name}'),
      { ...column('AGE', '{.metadata.creationTimestamp}'), type: 'date' },
    ],
    status: true,
    versions: others.map(({ version, ...fields }) => ({ version, schema: managedSchema({ ...shape, ...fields }) })),
    ...(others.length > 0 ? { conversion } : {}),
  })
}

function managedSchema(shape: KindShape): JSONSchemaProps {
  const forProvider = openApiOf(shape.parameters, 'forProvider')
  const immutable = immutableRules(shape.parameters)
  const rules = [contradictoryPolicies, ...requiredRules(shape.parameters)]
  const spec: JSONSchemaProps = {
    type: 'object',
    required: ['forProvider'],
    properties: {
      ...controlFields,
      ignoreChanges: ignoreChangesSchema(shape.type.kind, shape.parameters),
      forProvider: { ...forProvider, description: 'What the external resource should be.' },
      initProvider: {
        ...openApiOf(shape.parameters, 'initProvider'),
        description: 'Used together with forProvider when the external resource is created, and ignored afterwards.',
      },
    },
    'x-kubernetes-validations': rules,
  }
  const status: JSONSchemaProps = {
    type: 'object',
    properties: {
      atProvider: {
        ...openApiOf(unionOf(shape.parameters, shape.observation), 'atProvider'),
        description: 'What the external resource is.',
      },
      bindingPhase: bindingPhaseSchema,
      conditions: conditionsSchema,
      externalName: text(
        'The name of the external resource, once it is known to exist. Immutable fields can be changed while it is absent.',
      ),
      creationInDoubt: {
        type: 'boolean',
        description: 'A create was sent whose result is unknown. Immutable fields cannot be changed meanwhile.',
      },
      lastHandledReconcileAt: text('The last request to look at it at once that was handled.'),
      observedGeneration: observedGenerationSchema,
    },
  }
  const schema = objectSchema(shape.doc, { spec, status }, ['spec'])
  return immutable.length > 0 ? { ...schema, 'x-kubernetes-validations': immutable } : schema
}

/** Returns the CRD of the class of a managed kind, a template of its spec (CLM1). */
export function classCrd(shape: KindShape): KubeObject {
  const { managementPolicies, deletionPolicy, providerConfigRef, reclaimPolicy } = controlFields
  const specTemplate: JSONSchemaProps = {
    type: 'object',
    description: `The spec of each ${shape.type.kind} that is made from it.`,
    required: ['forProvider'],
    properties: {
      forProvider: { ...openApiOf(shape.parameters, 'initProvider'), description: `Template of a ${shape.type.kind}.` },
      initProvider: {
        ...openApiOf(shape.parameters, 'initProvider'),
        description: 'Used only at creation, where forProvider does not say otherwise.',
      },
      managementPolicies: managementPolicies!,
      deletionPolicy: deletionPolicy!,
      providerConfigRef: providerConfigRef!,
      providerRef: named('Deprecated: use providerConfigRef.'),
      reclaimPolicy: { ...reclaimPolicy!, default: 'Delete' },
      adoptionPolicy: text(
        `Whether a claim that names an existing external resource takes it over. Every user who may create a claim can name ` +
          `any ${shape.type.kind} that the ProviderConfig can reach. Deny: the claim reports that the name is taken. Allow: ` +
          `the resource is managed, and stays when the claim is deleted. AllowAndDelete: it is deleted with the claim.`,
        { default: 'Deny', enum: ['Deny', 'Allow', 'AllowAndDelete'] },
      ),
      writeConnectionSecretsToNamespace: text('Where connection Secrets of what this class provisions are kept.'),
    },
  }
  return crd(classTypeOf(shape.type), {
    alsoServed: shape.alsoServed,
    categories: ['crossplane', 'class'],
    shortNames: [],
    schema: objectSchema(`A template for dynamically provisioned ${shape.type.kind} resources.`, { specTemplate }, [
      'specTemplate',
    ]),
    columns: [
      column('PROVIDER-CONFIG', '{.specTemplate.providerConfigRef.name}'),
      column('RECLAIM-POLICY', '{.specTemplate.reclaimPolicy}'),
      { ...column('AGE', '{.metadata.creationTimestamp}'), type: 'date' },
    ],
    status: false,
  })
}

/** Returns the type of the class of a managed kind. */
export function classTypeOf(type: ResourceType): ResourceType {
  return { ...type, kind: `${type.kind}Class`, resource: pluralOf(`${type.kind}Class`), namespaced: false }
}

/** Returns the English plural, by the same rules as the Kubernetes code generators. */
export function pluralOf(kind: string): string {
  const name = kind.toLowerCase()
  if (/(s|x|z|ch|sh)$/.test(name)) return `${name}es`
  if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`
  return `${name}s`
}

/** The parts of a CRD that depend on the kind. */
export interface CrdParts {
  readonly alsoServed: readonly string[]
  readonly categories: readonly string[]
  readonly shortNames: readonly string[]
  readonly schema: JSONSchemaProps
  readonly columns: readonly object[]
  readonly status: boolean
  /** Versions with different schemas. They require a conversion. */
  readonly versions?: readonly { readonly version: string; readonly schema: JSONSchemaProps }[]
  readonly conversion?: ConversionEndpoint | undefined
}

/** Returns a CustomResourceDefinition. */
export function crd(type: ResourceType, parts: CrdParts): KubeObject {
  const version = (name: string, storage: boolean, schema = parts.schema) => ({
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: schema },
    ...(parts.status ? { subresources: { status: {} } } : {}),
    additionalPrinterColumns: parts.columns,
  })
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${type.resource}.${type.group}` },
    spec: {
      group: type.group,
      scope: type.namespaced ? 'Namespaced' : 'Cluster',
      names: {
        kind: type.kind,
        listKind: `${type.kind}List`,
        plural: type.resource,
        singular: type.kind.toLowerCase(),
        ...(parts.categories.length > 0 ? { categories: parts.categories } : {}),
        ...(parts.shortNames.length > 0 ? { shortNames: parts.shortNames } : {}),
      },
      versions: [
        version(type.version, true),
        ...parts.alsoServed.map((name) => version(name, false)),
        ...(parts.versions ?? []).map((other) => version(other.version, false, other.schema)),
      ],
      ...(parts.conversion ? { conversion: webhookOf(parts.conversion) } : {}),
    },
  }
}

function webhookOf({ ca, ...where }: ConversionEndpoint): object {
  const caBundle = ca === undefined ? {} : { caBundle: Buffer.from(ca).toString('base64') }
  const clientConfig = 'url' in where ? where : { service: { ...where.service, path: CONVERSION_PATH } }
  return {
    strategy: 'Webhook',
    webhook: { clientConfig: { ...clientConfig, ...caBundle }, conversionReviewVersions: ['v1'] },
  }
}

const meaningOf: Readonly<Record<string, JSONSchemaProps>> = {
  spec: { description: 'What is wanted.' },
  status: { description: 'What was seen last. Nothing in it is needed: it is written anew.' },
}

/** Returns the schema of an object with the standard fields and the given properties. */
export function objectSchema(
  description: string,
  properties: Record<string, JSONSchemaProps>,
  required: readonly string[],
): JSONSchemaProps {
  return {
    type: 'object',
    ...(description ? { description } : {}),
    required,
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      ...Object.fromEntries(
        Object.entries(properties).map(([name, schema]) => [name, { ...meaningOf[name], ...schema }]),
      ),
    },
  }
}

/** Returns a printer column. Printer columns take a JSONPath without the braces that kubectl requires. */
export function column(name: string, path: string): { name: string; type: string; jsonPath: string } {
  return { name, type: 'string', jsonPath: path.slice(1, -1) }
}
