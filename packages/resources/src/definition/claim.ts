import type { KubeObject, ResourceType } from '@crosstie/kube'
import type { JSONSchemaProps } from '@crosstie/kube/schema'
import {
  bindingPhaseSchema,
  column,
  conditionsSchema,
  crd,
  labelSelectorSchema,
  objectSchema,
  pluralOf,
  referenceSchema,
} from './crd.js'
import type { ManagedKind } from './managed.js'
import { openApiOf } from './openapi.js'
import type { Fields, Node, ObjectSchema } from './schema.js'

/** The definition of a kind of claim. */
export interface ClaimDefinition<F extends Fields> {
  readonly group: string
  readonly version: string
  readonly kind: string
  /** The plural name in URLs. Defaults to the English plural of the kind. */
  readonly plural?: string
  /** Additional served versions. They have the same fields. */
  readonly alsoServed?: readonly string[]
  readonly shortNames?: readonly string[]
  readonly doc?: string
  /** The fields that applications set. They do not depend on the managed kind that satisfies the claim. */
  readonly parameters: ObjectSchema<F>
  /** Returns additional keys for the Secret of the claim, derived from the connection details of the bound resource. */
  readonly connection?: (details: Details) => Details
}

type Details = Readonly<Record<string, string>>

/** A kind of claim: a request of an application, such as one for a PostgreSQL instance. */
export interface ClaimKind {
  readonly type: ResourceType
  readonly parameters: Node
  readonly connection: (details: Details) => Details
  crd(): KubeObject
}

const claimFields: Readonly<Record<string, JSONSchemaProps>> = {
  classRef: referenceSchema(
    'The class that says how this claim is met. Without it, and without the others, the default.',
  ),
  classSelector: labelSelectorSchema('Chooses a class by its labels.'),
  resourceRef: referenceSchema('What this claim is bound to, or is to be bound to.'),
  writeConnectionSecretToRef: {
    type: 'object',
    description: 'The Secret of this namespace that connection details are written to.',
    required: ['name'],
    properties: { name: { type: 'string', minLength: 1, description: 'Name of the Secret.' } },
  },
}

/**
 * Defines a kind of claim. Most providers use the predefined ones instead, such as `bucket` and `postgresqlInstance`.
 *
 * @throws Error if a parameter has the name of a field that every claim has
 */
export function defineClaim<F extends Fields>(definition: ClaimDefinition<F>): ClaimKind {
  const { group, version, kind, parameters } = definition
  const type = { group, version, kind, resource: definition.plural ?? pluralOf(kind), namespaced: true }
  for (const name of Object.keys(parameters.node.fields ?? {})) {
    if (Object.hasOwn(claimFields, name)) throw new Error(`${kind}: every claim has a field ${name} already`)
  }
  const { connection = () => ({}) } = definition
  return { type, parameters: parameters.node, connection, crd: () => claimCrd(type, definition) }
}

function claimCrd<F extends Fields>(type: ResourceType, definition: ClaimDefinition<F>): KubeObject {
  const { properties = {}, required = [] } = openApiOf(definition.parameters.node, 'forProvider')
  const spec: JSONSchemaProps = {
    type: 'object',
    default: {},
    properties: { ...claimFields, ...properties },
    ...(required.length > 0 ? { required } : {}),
    'x-kubernetes-validations': [
      {
        rule: '!has(oldSelf.resourceRef) || !has(oldSelf.resourceRef.uid) || (has(self.resourceRef) && self.resourceRef == oldSelf.resourceRef)',
        message: 'spec.resourceRef cannot change once the claim is bound',
      },
    ],
  }
  const status: JSONSchemaProps = {
    type: 'object',
    properties: {
      bindingPhase: bindingPhaseSchema,
      conditions: conditionsSchema,
    },
  }
  return crd(type, {
    alsoServed: definition.alsoServed ?? [],
    categories: ['crossplane', 'claim'],
    shortNames: definition.shortNames ?? [],
    schema: objectSchema(definition.doc ?? '', { spec, status }, []),
    columns: [
      column('CLASS', '{.spec.classRef.name}'),
      column('RESOURCE', '{.spec.resourceRef.name}'),
      column('PHASE', '{.status.bindingPhase}'),
      column('READY', "{.status.conditions[?(@.type=='Ready')].status}"),
      { ...column('AGE', '{.metadata.creationTimestamp}'), type: 'date' },
    ],
    status: true,
  })
}

type Values = Readonly<Record<string, unknown>>

/**
 * States that a managed kind can satisfy a kind of claim, and how the managed resource is configured. Combinations
 * without a binding are ignored.
 */
export interface Binding {
  readonly claim: ClaimKind
  readonly managed: ManagedKind
  /**
   * The role of the managed resource. A claim can bind to a `main` resource. A `supporting` resource is provisioned
   * only next to a main one, in an aggregate.
   */
  readonly role: 'main' | 'supporting'
  /**
   * Returns the `spec.forProvider` of the managed resource, given the claim and its class. Throws if the claim and
   * the class are incompatible.
   */
  configure(given: Configuring): Values
  /** Returns the external name from a field of the claim. Used only if the claim has no external name annotation. */
  externalName?(given: Configuring): string | undefined
}

/** The input of `configure`: the claim, its class and their values. */
export interface Configuring {
  readonly claim: KubeObject
  readonly class: KubeObject
  /** The fields of the claim that `parameters` defines. */
  readonly asked: Values
  /** The values of the class. */
  readonly forProvider: Values
}

/**
 * Defines a binding. Without `configure`, the managed resource has exactly the values of the class.
 *
 * @example
 * ```ts
 * import { bucket, defineBinding, type ManagedKind } from '@crosstie/resources/provider'
 *
 * declare const bucketKind: ManagedKind
 *
 * export const binding = defineBinding({
 *   claim: bucket,
 *   managed: bucketKind,
 *   role: 'main',
 *   configure: ({ forProvider }) => ({ ...forProvider, versioned: true }),
 * })
 * ```
 */
export function defineBinding(
  given: Omit<Binding, 'role' | 'configure'> & Partial<Pick<Binding, 'role' | 'configure'>>,
): Binding {
  return { role: 'main', configure: ({ forProvider }) => forProvider, ...given }
}
