import {
  append,
  conflict,
  equal,
  fieldErrors,
  finalizerWarnings,
  invalid,
  type KubeObject,
  notFound,
  StatusError,
} from '@crosstie/kube'
import { withoutNewTimes } from '@crosstie/kube/patch'
import { decode } from '../admission/decode.js'
import { type AdmissionView, admissionOf, type Review } from '../admission/review.js'
import type { Engine } from '../engine.js'
import { PreconditionError, type Stored } from '../store/store.js'
import { integerFault } from '../wire/integer.js'
import { commit, commitPut, settled } from './commit.js'
import { checkMayCreate, createDecoded } from './create.js'
import { sameAsUrl } from './names.js'
import { withoutDuplicateOwners } from './owners.js'
import { isLong, rest } from './pace.js'
import { type Body, contextOf, type Outcome, outcomeOf, resetFieldsOf, unstored, type WriteRequest } from './request.js'
import { imagined, toStorage, withoutNulls } from './storage.js'
import { turnsOf } from './turns.js'
import { checkValid } from './validate.js'

/** kube-apiserver gives up on a write after 34 s, however often it had to start over. */
const RETRY_MAX_MS = 34_000

/** PUT: replaces an object, or its status. */
export async function update(engine: Engine, request: WriteRequest, body: Body): Promise<Outcome> {
  const { served } = request
  if (isLong(request)) await rest(request)
  const object = withoutDuplicateOwners(request, sameAsUrl(request, decode(request, body)), false)
  if (isLong(request)) await rest(request)
  const { unconditionalUpdate, createOnUpdate } = served.definition.strategy
  if (!engine.store.tip(served.key(request.namespace, request.name)) && createOnUpdate && !request.subresource) {
    checkMayCreate(engine, request)
    return await createDecoded(engine, request, object, { byUpdate: true })
  }
  return await modify(engine, request, (live) => {
    checkUid(request, object, live)
    checkRevision(request, object, live, unconditionalUpdate)
    return { object }
  })
}

/** What a modification proposes on top of the live object; `tracked` when its managedFields are settled already. */
export interface Proposal {
  readonly object: KubeObject
  readonly tracked?: boolean
  /** What admission sees instead of the object: a Scale. */
  readonly admitted?: AdmittedAs
}

export interface AdmittedAs {
  readonly view: AdmissionView
  readonly object: KubeObject
  readonly old: KubeObject
  /** The proposed object with what admission made of its other form. */
  merge(mutated: KubeObject): KubeObject
  /** The other form of the final object. */
  show(object: KubeObject): KubeObject
}

type Propose = (live: KubeObject) => Proposal | Promise<Proposal>

/**
 * Reads, changes and writes an object, and starts over on the newest state when another writer was faster. Every change of
 * an existing object comes through here: PUT, every kind of patch, status, scale, finalizers. A change that names no
 * resourceVersion therefore never fails with a conflict. After 34 s it fails with a timeout.
 */
export async function modify(engine: Engine, request: WriteRequest, propose: Propose): Promise<Outcome> {
  const key = request.served.key(request.namespace, request.name)
  const turns = turnsOf(engine)
  const deadline = engine.clock.now() + RETRY_MAX_MS
  let endTurn = turns.contended(key) ? await turns.take(key) : undefined
  try {
    for (;;) {
      const outcome = await attemptChange(engine, request, propose, key, () => endTurn?.())
      if (outcome) return outcome
      if (engine.clock.now() > deadline) throw timedOut()
      endTurn ??= await turns.take(key)
    }
  } finally {
    endTurn?.()
  }
}

/** One round. Undefined when another writer was faster. `accepted` is called as soon as the change has its place in the order. */
async function attemptChange(
  engine: Engine,
  request: WriteRequest,
  propose: Propose,
  key: string,
  accepted: () => void,
): Promise<Outcome | undefined> {
  const { served, name } = request
  const tip = engine.store.tip(key)
  if (!tip) {
    await settled(engine, key)
    throw notFound(served.type, name)
  }
  const seen = served.view(tip)
  const live = (seen instanceof Promise ? await seen : seen).object
  const { object, tracked } = await changed(engine, request, live, propose)
  if (request.dryRun) return await imagined(engine, request, object)
  const vanishing = vanishes(request, object)
  if (!vanishing && equal(object, live)) return await unchanged(engine, request, tip)
  const expect = tip.revision
  const stored = vanishing || served.isStorage ? object : await toStorage(engine, request, object)
  try {
    const before = engine.store.tip(key)
    const committed = vanishing
      ? commit(engine, [{ do: 'delete', key, expect }])
      : commitPut(engine, served, { do: 'put', key, expect, object: stored }, { mayDropOwners: !tracked })
    if (engine.store.tip(key) !== before) accepted()
    const [change] = await committed
    // Watchers see it go as it last was; the writer sees what it wrote.
    return vanishing ? unstored(object) : await outcomeOf(request, change!.now)
  } catch (error) {
    if (error instanceof PreconditionError) return undefined
    throw error
  }
}

function timedOut(): StatusError {
  const message = 'Timeout: request did not complete within requested timeout - context deadline exceeded'
  return new StatusError(504, 'Timeout', message, { details: {} })
}

/** The live object as it shall be. A refusal may rest on a write that is not durable yet: it waits for that. */
async function changed(engine: Engine, request: WriteRequest, live: KubeObject, propose: Propose): Promise<Proposal> {
  try {
    const proposed = propose(live)
    const proposal = proposed instanceof Promise ? await proposed : proposed
    const object = withoutNewTimes(await settle(engine, request, proposal, live), live)
    return proposal.tracked ? { object: withoutNulls(request, object), tracked: true } : { object }
  } catch (error) {
    await settled(engine, request.served.key(request.namespace, request.name))
    throw error
  }
}

const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again'

/** The proposed object as it may be stored: server's fields kept, owners noted, admitted, valid. */
async function settle(
  engine: Engine,
  request: WriteRequest,
  proposal: Proposal,
  live: KubeObject,
): Promise<KubeObject> {
  const { served, subresource, fieldManager } = request
  const { strategy } = served.definition
  const context = contextOf(engine, request)
  const prepare = (object: KubeObject): KubeObject => {
    const own = keepServersFields(shaped(request, object, live), live)
    strategy.prepare?.(own as unknown as Record<string, unknown>, live, context)
    return own
  }
  const prepared = prepare(proposal.object)
  const tracking = proposal.tracked
    ? prepared
    : served.fields.trackUpdate({
        live,
        updated: prepared,
        manager: fieldManager,
        version: served.apiVersion,
        subresource,
        now: engine.clock.now(),
        resetFields: resetFieldsOf(request),
      })
  const tracked = tracking instanceof Promise ? await tracking : tracking
  if (isLong(request)) await rest(request)
  const { admitted } = proposal
  const review = admissionOf(engine, request, 'UPDATE', undefined, admitted?.view)
  const mutated = review ? await mutatedBy(review, tracked, live, admitted) : tracked
  const next = mutated === tracked ? tracked : prepare(mutated)
  const object = nextGeneration(request, withoutDuplicateOwners(request, next, true), live)
  checkValid(request, object, live, context)
  if (isLong(request)) await rest(request)
  if (served.definition.crd) append(request.warnings, finalizerWarnings(object.metadata, live.metadata))
  if (review) await review.validate(admitted ? admitted.show(object) : object, admitted?.old ?? live)
  await strategy.authorizeWrite?.(object, live, context)
  return object
}

async function mutatedBy(
  review: Review,
  object: KubeObject,
  live: KubeObject,
  admitted: AdmittedAs | undefined,
): Promise<KubeObject> {
  if (!admitted) return await review.mutate(object, live)
  const mutated = await review.mutate(admitted.object, admitted.old)
  return mutated === admitted.object ? object : admitted.merge(mutated)
}

/** Of a custom resource, /status changes only status, and the main endpoint everything but. */
function shaped({ served, subresource }: WriteRequest, object: KubeObject, live: KubeObject): KubeObject {
  if (!served.definition.crd || !served.version.subresources.status) return object
  if (subresource === 'status') {
    const { resourceVersion, managedFields } = object.metadata
    const metadata = { ...live.metadata, resourceVersion, managedFields }
    return withStatus({ ...live, metadata }, object['status'])
  }
  return withStatus(object, live['status'])
}

function withStatus(object: KubeObject, status: unknown): KubeObject {
  if (status !== undefined) return { ...object, status }
  const { status: _, ...rest } = object
  return rest as KubeObject
}

function keepServersFields(object: KubeObject, live: KubeObject): KubeObject {
  const { creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, generation } = live.metadata
  const {
    selfLink: _s,
    deletionTimestamp: _d,
    deletionGracePeriodSeconds: _p,
    generation: _g,
    ...given
  } = object.metadata
  return {
    ...object,
    metadata: {
      ...given,
      uid: given.uid || live.metadata.uid,
      resourceVersion: live.metadata.resourceVersion,
      creationTimestamp,
      ...(generation === undefined ? {} : { generation }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      ...(deletionGracePeriodSeconds === undefined ? {} : { deletionGracePeriodSeconds }),
    },
  }
}

function nextGeneration({ served }: WriteRequest, object: KubeObject, live: KubeObject): KubeObject {
  if (served.definition.strategy.generation === 'never') return object
  const ignoresStatus = served.version.subresources.status === true
  const content = ({ metadata: _m, status, apiVersion: _v, kind: _k, ...rest }: KubeObject) =>
    ignoresStatus ? rest : { ...rest, status }
  if (equal(content(object), content(live))) return object
  return { ...object, metadata: { ...object.metadata, generation: (live.metadata.generation ?? 0) + 1 } }
}

/** The last finalizer of an object under deletion went: now it goes. */
function vanishes({ served }: WriteRequest, { metadata, ...rest }: KubeObject): boolean {
  if (!metadata.deletionTimestamp || (metadata.finalizers?.length ?? 0) > 0) return false
  return !served.definition.strategy.holds?.({ metadata, ...rest } as KubeObject)
}

/** Nothing to write, but what we answer with must be durable all the same. */
async function unchanged(engine: Engine, request: WriteRequest, tip: Stored): Promise<Outcome> {
  await settled(engine, tip.key)
  return await outcomeOf(request, tip)
}

/** An update that names a uid means that very object. */
export function checkUid({ served, name, namespace }: WriteRequest, given: KubeObject, live: KubeObject): void {
  const { uid } = given.metadata
  if (!uid || uid === live.metadata.uid) return
  const { group, resource } = served.type
  const key = `/registry/${group ? `${group}/` : ''}${resource}/${namespace ? `${namespace}/` : ''}${name}`
  const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${live.metadata.uid}`
  const storage = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`
  throw conflict(served.type, name, storage)
}

/** A write that names a revision builds on that very state. */
export function checkRevision(
  { served, name }: WriteRequest,
  given: KubeObject,
  live: KubeObject,
  unconditional: boolean,
): void {
  const { resourceVersion } = given.metadata
  if (resourceVersion && resourceVersion === live.metadata.resourceVersion) return
  const fault = resourceVersion && integerFault(resourceVersion, 'ParseUint')
  if (fault) throw new StatusError(500, '', fault)
  if (!resourceVersion || resourceVersion === '0') {
    if (unconditional) return
    const { group, resource } = served.type
    throw invalid({ group, kind: resource }, name, [
      fieldErrors.invalid('metadata.resourceVersion', 0, 'must be specified for an update'),
    ])
  }
  throw conflict(served.type, name, MODIFIED)
}
