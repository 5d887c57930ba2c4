import { apiVersionOf, type Clock, conditionsOf, type KubeObject, messageOf, type ObjectKey } from '@crosstie/kube'
import { compileSchema, type JSONSchemaProps } from '@crosstie/kube/schema'
import { reconcileClaim } from '../binding/reconcile.js'
import { claimRuntimeFor } from '../binding/runtime.js'
import { aggregateType } from '../definition/aggregate.js'
import type { Binding, ClaimKind } from '../definition/claim.js'
import type { ManagedKind } from '../definition/managed.js'
import { type BindableSpec, type ClaimSpec, refersTo, specOf } from '../metadata/binding.js'
import type { PlannedClaim } from './document.js'
import type { Imagination, ImaginedWrite } from './imagined.js'
import type { Subject } from './plan.js'

/** The options of `imagineClaim`. */
export interface ClaimPlanOptions {
  readonly world: Imagination
  readonly bindings: readonly Binding[]
  readonly clock?: Clock
}

/** The plan of a claim, and the managed resources that satisfy it or would be provisioned for it. */
export interface ImaginedClaim {
  readonly claim: PlannedClaim
  readonly subjects: readonly Subject[]
}

/**
 * Reconciles a claim in the planned state: chooses the class and provisions the resources there. The resources are
 * then planned like all others.
 */
export async function imagineClaim(
  { world, bindings, clock }: ClaimPlanOptions,
  kind: ClaimKind,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<ImaginedClaim> {
  const writes: ImaginedWrite[] = []
  const told: string[] = []
  const client = world.client((write) => writes.push(write))
  const events = {
    event: (_: KubeObject, __: string, reason: string, message: string) => {
      if (reason === 'ChoseClass') told.push(message)
    },
  }
  const runtime = claimRuntimeFor(kind, { client, bindings, events, ...(clock ? { clock } : {}) })
  let error: string | undefined
  try {
    await reconcileClaim(runtime, key, signal)
  } catch (thrown) {
    signal.throwIfAborted()
    error = messageOf(thrown)
  }
  for (const write of writes) await fillInDefaults(world, runtime.bindings, write)
  const claim = await world.find(kind.type, key)
  const subjects = claim ? await partsOf(world, runtime.bindings, claim) : []
  const failure = error ?? (claim && failureOf(claim))
  const { classRef } = claim ? specOf<ClaimSpec>(claim) : {}
  return {
    subjects,
    claim: {
      apiVersion: apiVersionOf(kind.type),
      kind: kind.type.kind,
      name: key.name,
      ...(key.namespace ? { namespace: key.namespace } : {}),
      ...(classRef?.name ? { class: `${classRef.kind ?? ''}/${classRef.name}` } : {}),
      because: failure ?? told[0] ?? (claim && waitingFor(claim)) ?? '',
      resources: subjects.map(({ kind: { type }, key: { name } }) => ({
        apiVersion: apiVersionOf(type),
        kind: type.kind,
        name,
      })),
      ...(failure === undefined ? {} : { error: failure }),
    },
  }
}

/** Applies the schema defaults of the kind to a provisioned object, as the server would. */
async function fillInDefaults(
  world: Imagination,
  bindings: readonly Binding[],
  { type, before, after }: ImaginedWrite,
): Promise<void> {
  const kind = bindings.find(({ managed }) => managed.type === type)?.managed
  if (!kind || before || !after) return
  const { name = '' } = after.metadata
  const object = await world.find(type, { name })
  if (object) world.imagine(type, withDefaults(kind, object))
}

/** Returns the object with the schema defaults of its kind. */
export function withDefaults(kind: ManagedKind, object: KubeObject): KubeObject {
  const { versions } = kind.crd()['spec'] as {
    readonly versions: readonly { readonly name: string; readonly schema: { openAPIV3Schema: JSONSchemaProps } }[]
  }
  const { schema } = versions.find(({ name }) => name === kind.type.version)!
  return compileSchema(schema.openAPIV3Schema).applyDefaults(object)
}

/** Returns the managed resources that a claim has or would have. */
async function partsOf(
  world: Imagination,
  bindings: readonly Binding[],
  claim: KubeObject,
): Promise<readonly Subject[]> {
  const { resourceRef } = specOf<ClaimSpec>(claim)
  const name = resourceRef?.name
  if (!name) return []
  const kinds = [...new Set(bindings.map(({ managed }) => managed))]
  if (!refersTo(resourceRef, aggregateType)) {
    const kind = kinds.find(({ type }) => refersTo(resourceRef, type))
    return kind && (await world.find(kind.type, { name })) ? [{ kind, key: { name } }] : []
  }
  const members: Subject[] = []
  for (const kind of kinds) {
    const { items } = await world.list(kind.type)
    const own = items.filter((object) => specOf<BindableSpec>(object).aggregateRef?.name === name)
    members.push(...own.map(({ metadata }) => ({ kind, key: { name: metadata.name! } })))
  }
  return members
}

function failureOf(claim: KubeObject): string | undefined {
  const synced = conditionsOf(claim).find(({ type }) => type === 'Synced')
  return synced?.status === 'False' ? (synced.message ?? synced.reason) : undefined
}

const waitingFor = (claim: KubeObject): string | undefined =>
  conditionsOf(claim).find(({ type, status }) => type === 'Ready' && status === 'False')?.message
