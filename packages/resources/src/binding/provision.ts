import { apiVersionOf, isObject, type KubeObject } from '@crosstie/kube'
import { aggregateClassType, aggregateType } from '../definition/aggregate.js'
import type { Binding } from '../definition/claim.js'
import {
  aggregateFinalizer,
  claimAnnotations,
  claimLabels,
  type Reference,
  referenceTo,
  specOf,
} from '../metadata/binding.js'
import { labelValue } from '../metadata/labels.js'
import { annotations, controllerReference, externalNameOf } from '../metadata/metadata.js'
import { secretName } from './names.js'

type Values = Readonly<Record<string, unknown>>

/** The template of a class for the spec of each provisioned resource. */
interface SpecTemplate {
  readonly forProvider?: Values
  readonly providerConfigRef?: { readonly name: string }
  readonly providerRef?: { readonly name: string }
  readonly reclaimPolicy?: 'Delete' | 'Retain'
  readonly writeConnectionSecretsToNamespace?: string
  readonly managementPolicies?: readonly string[]
  readonly deletionPolicy?: string
}

/** The owner of a provisioned managed resource: a claim, or the aggregate of a claim. */
export type For =
  | { readonly claim: KubeObject }
  | {
      readonly claim: KubeObject
      readonly aggregate: KubeObject
      /** Another class of the aggregate would give a resource of the same kind the same external name. */
      readonly ambiguous?: boolean
    }

/** Returns the labels of all resources that are provisioned for a claim. An aggregate selects its members by them. */
function labelsFor({ metadata: { namespace = '', name = '', uid = '' } }: KubeObject): Record<string, string> {
  return {
    [claimLabels.namespace]: labelValue(namespace),
    [claimLabels.name]: labelValue(name),
    [claimLabels.uid]: uid,
  }
}

/** Returns the managed resource to provision for a claim and its class (CLM2, AGG2). */
export function managedFor(binding: Binding, owner: For, given: KubeObject, name: string): KubeObject {
  const { claim } = owner
  const { type } = binding.managed
  const template = (given['specTemplate'] ?? {}) as SpecTemplate
  const { forProvider = {}, providerRef, providerConfigRef, writeConnectionSecretsToNamespace, ...rest } = template
  const reclaimPolicy = template.reclaimPolicy ?? 'Delete'
  const config = providerRef && (providerConfigRef?.name ?? 'default') === 'default' ? providerRef : providerConfigRef
  const aggregate = 'aggregate' in owner ? owner.aggregate : undefined
  const configuring = { claim, class: given, asked: askedBy(claim, binding), forProvider }
  return {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: {
      name,
      labels: labelsFor(claim),
      ...annotated({
        [annotations.externalName]: binding.managed.nameless
          ? undefined
          : externalNameFor(owner, given, binding.externalName?.(configuring)),
        [claimAnnotations.secretPrefix]: given.metadata.annotations?.[claimAnnotations.secretPrefix],
        [claimAnnotations.provisioning]: aggregate ? undefined : claim.metadata.uid,
      }),
      // A member that is created after its aggregate was deleted is garbage-collected, unless its policy is Retain.
      ...(aggregate && reclaimPolicy === 'Delete' ? { ownerReferences: [controllerReference(aggregate)] } : {}),
    },
    spec: {
      ...rest,
      ...(config ? { providerConfigRef: config } : {}),
      forProvider: binding.configure(configuring),
      reclaimPolicy,
      ...(aggregate ? { aggregateRef: referenceTo(aggregate) } : { claimRef: claimReference(claim, binding) }),
      classRef: referenceTo(given),
      ...(writeConnectionSecretsToNamespace
        ? {
            writeConnectionSecretToRef: {
              namespace: writeConnectionSecretsToNamespace,
              name: aggregate ? secretName(claim, `${type.kind}/${name}`) : claim.metadata.uid,
            },
          }
        : {}),
    },
  }
}

/**
 * Returns the aggregate to provision for a claim and its class. It selects all resources with the labels of the
 * claim.
 */
export function aggregateFor(claim: KubeObject, claimRef: Reference, given: KubeObject, name: string): KubeObject {
  const template = (given['specTemplate'] ?? {}) as SpecTemplate
  const namespace = template.writeConnectionSecretsToNamespace
  return {
    apiVersion: apiVersionOf(aggregateType),
    kind: aggregateType.kind,
    metadata: {
      name,
      labels: labelsFor(claim),
      finalizers: [aggregateFinalizer],
      ...annotated({
        [annotations.externalName]: externalNameOf(claim) || undefined,
        [claimAnnotations.provisioning]: claim.metadata.uid,
      }),
    },
    spec: {
      aggregationRule: { resourceSelector: { matchLabels: labelsFor(claim) } },
      claimRef,
      classRef: { ...referenceTo(given), apiVersion: apiVersionOf(aggregateClassType) },
      ...(namespace ? { writeConnectionSecretsToRef: { namespace, name: claim.metadata.uid } } : {}),
      reclaimPolicy: template.reclaimPolicy ?? 'Delete',
    },
  }
}

/**
 * Returns `{prefix}{name}{suffix}`, or undefined if the claim does not set a name (XN3, XN5). If several classes of
 * an aggregate would give resources of one kind the same name, the name includes the class:
 * `{prefix}{name}-{class}{suffix}`.
 */
function externalNameFor(owner: For, given: KubeObject, otherwise = ''): string | undefined {
  const name = externalNameOf('aggregate' in owner ? owner.aggregate : owner.claim) || otherwise
  if (name === '') return undefined
  const { prefix, suffix } = affixesOf(given)
  const which = 'ambiguous' in owner && owner.ambiguous ? `-${given.metadata.name}` : ''
  return `${prefix}${name}${which}${suffix}`
}

/** Returns the prefix and the suffix that a class adds to external names of claims. */
export function affixesOf({ metadata: { annotations: notes = {} } }: KubeObject) {
  return { prefix: notes[claimAnnotations.namePrefix] ?? '', suffix: notes[claimAnnotations.nameSuffix] ?? '' }
}

/** Returns the reference to a claim, in the stored version, regardless of the version that was read. */
export function claimReference(claim: KubeObject, { claim: { type } }: Pick<Binding, 'claim'>): Reference {
  return { ...referenceTo(claim), apiVersion: apiVersionOf(type) }
}

function askedBy(claim: KubeObject, binding: Binding): Values {
  const fields = Object.keys(binding.claim.parameters.fields ?? {})
  const spec = specOf<Values>(claim)
  return Object.fromEntries(fields.filter((name) => spec[name] !== undefined).map((name) => [name, spec[name]]))
}

function annotated(given: Readonly<Record<string, string | undefined>>): { annotations?: Record<string, string> } {
  const entries = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return entries.length > 0 ? { annotations: Object.fromEntries(entries) } : {}
}

/**
 * Returns the labels of a selector of an aggregate or its class. An empty selector matches no objects, so the
 * result is undefined.
 */
export function chosenBy(rule: unknown): Readonly<Record<string, string>> | undefined {
  const labels = isObject(rule) && isObject(rule['matchLabels']) ? rule['matchLabels'] : {}
  return Object.keys(labels).length > 0 ? (labels as Record<string, string>) : undefined
}
