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

/** What a class says of everything that it provisions. */
interface SpecTemplate {
  readonly forProvider?: Values
  readonly providerConfigRef?: { readonly name: string }
  readonly providerRef?: { readonly name: string }
  readonly reclaimPolicy?: 'Delete' | 'Retain'
  readonly writeConnectionSecretsToNamespace?: string
  readonly managementPolicies?: readonly string[]
  readonly deletionPolicy?: string
}

/** Who a provisioned managed resource is for: a claim, or the aggregate that stands for one. */
export type For =
  | { readonly claim: KubeObject }
  | {
      readonly claim: KubeObject
      readonly aggregate: KubeObject
      /** Another class of the aggregate would give a resource of the same kind the same external name. */
      readonly ambiguous?: boolean
    }

/** The labels of all that is provisioned for a claim: by them an aggregate knows its parts. */
function labelsFor({ metadata: { namespace = '', name = '', uid = '' } }: KubeObject): Record<string, string> {
  return {
    [claimLabels.namespace]: labelValue(namespace),
    [claimLabels.name]: labelValue(name),
    [claimLabels.uid]: uid,
  }
}

/** The managed resource that a class makes of a claim (CLM2, AGG2). */
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
      // A part that comes to be after its aggregate went away is collected as garbage, unless it is to be kept.
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

/** The aggregate that an aggregate class makes of a claim: it has nothing yet, and will have all that is labelled so. */
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
 * `{prefix}{name}{suffix}`, if the claim has a name to begin with (XN3, XN5). Where several classes of an aggregate would
 * give resources of one kind the same name, the name of the class is part of it: `{prefix}{name}-{class}{suffix}`.
 */
function externalNameFor(owner: For, given: KubeObject, otherwise = ''): string | undefined {
  const name = externalNameOf('aggregate' in owner ? owner.aggregate : owner.claim) || otherwise
  if (name === '') return undefined
  const { prefix, suffix } = affixesOf(given)
  const which = 'ambiguous' in owner && owner.ambiguous ? `-${given.metadata.name}` : ''
  return `${prefix}${name}${which}${suffix}`
}

/** The texts that a class adds to external names that come from claims. */
export function affixesOf({ metadata: { annotations: notes = {} } }: KubeObject) {
  return { prefix: notes[claimAnnotations.namePrefix] ?? '', suffix: notes[claimAnnotations.nameSuffix] ?? '' }
}

/** The claim as its offers refer to it: in the version that is stored, whichever it was read in. */
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

/** The labels by which an aggregate or its class chooses. One that names none chooses nothing: it is never everything. */
export function chosenBy(rule: unknown): Readonly<Record<string, string>> | undefined {
  const labels = isObject(rule) && isObject(rule['matchLabels']) ? rule['matchLabels'] : {}
  return Object.keys(labels).length > 0 ? (labels as Record<string, string>) : undefined
}
