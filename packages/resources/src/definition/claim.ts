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

/** What there is to say of a kind of thing that applications ask for. */
export interface ClaimDefinition<F extends Fields> {
  readonly group: string
  readonly version: string
  readonly kind: string
  /** Of the URL; absent: the English plural of the kind. */
  readonly plural?: string
  /** Other versions that are served as well. They have the same fields. */
  readonly alsoServed?: readonly string[]
  readonly shortNames?: readonly string[]
  readonly doc?: string
  /** What applications may ask for, whoever meets the claim. */
  readonly parameters: ObjectSchema<F>
  /** What else the claim's Secret holds, given the connection details of what meets the claim. */
  readonly connection?: (details: Details) => Details
}

type Details = Readonly<Record<string, string>>

/** A kind of claim: what applications ask for, such as a PostgreSQL instance. */
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
 * @throws DefinitionError if a field of the definition is not valid
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
 * States that a managed kind can satisfy a kind of claim, and how the managed resource is configured. Combinations without a
 * binding are ignored.
 */
export interface Binding {
  readonly claim: ClaimKind
  readonly managed: ManagedKind
  /**
   * What this is to the claim. `main` is what was asked for: the claim may bind
   * to it. `supporting` makes sense only beside a main one, in an aggregate.
   */
  readonly role: 'main' | 'supporting'
  /**
   * What the managed resource should be, given what the claim asks for and what
   * the class says. Throws to say that the two do not go together.
   */
  configure(given: Configuring): Values
  /** The external name that the claim asks for in a field of its own, when no annotation does. */
  externalName?(given: Configuring): string | undefined
}

/** The input of `configure`: the claim, its class and their values. */
export interface Configuring {
  readonly claim: KubeObject
  readonly class: KubeObject
  /** The fields of the claim that are not the control plane's. */
  readonly asked: Values
  /** As the class states it. */
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
