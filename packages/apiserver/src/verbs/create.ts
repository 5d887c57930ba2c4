import { randomUUID } from 'node:crypto'
import {
  alreadyExists,
  append,
  finalizerWarnings,
  forbidden,
  type KubeObject,
  type ObjectMeta,
  StatusError,
  timestamp,
} from '@crosstie/kube'
import { forbiddenError } from '../access/authorize.js'
import { decode } from '../admission/decode.js'
import { checkNamespaceOpen } from '../admission/namespace.js'
import { admissionOf } from '../admission/review.js'
import type { Engine } from '../engine.js'
import { PreconditionError } from '../store/store.js'
import { commitPut, settled } from './commit.js'
import { named } from './names.js'
import { withoutDuplicateOwners } from './owners.js'
import { isLong, rest } from './pace.js'
import { type Body, contextOf, type Outcome, outcomeOf, resetFieldsOf, unstored, type WriteRequest } from './request.js'
import { imagined, toStorage, withoutNulls } from './storage.js'
import { checkValid } from './validate.js'

/** POST: the whole life of one create, from body to stored. */
export async function create(engine: Engine, request: WriteRequest, body: Body): Promise<Outcome> {
  const { strategy } = request.served.definition
  if (isLong(request)) await rest(request)
  const decoded = decode(request, body)
  if (isLong(request)) await rest(request)
  if (strategy.answer) {
    const question = await track(engine, request, withNamespace(request, decoded))
    const review = admissionOf(engine, request, 'CREATE')
    const admitted = review ? await review.mutate(question, undefined) : question
    // An answer has no side effects and checks the fields. kube-apiserver reports those before admission validates.
    const answer = await strategy.answer(admitted, contextOf(engine, request))
    if (review) await review.validate(admitted, undefined)
    return unstored(answer, true)
  }
  return await createDecoded(engine, request, named(request, decoded))
}

/** Questions have no name, but where they are asked matters. */
function withNamespace({ namespace }: WriteRequest, object: KubeObject): KubeObject {
  return namespace === '' ? object : { ...object, metadata: { ...object.metadata, namespace } }
}

/** What apply and update do too when the object is not there yet. */
export async function createDecoded(
  engine: Engine,
  request: WriteRequest,
  decoded: KubeObject,
  options: { readonly tracked?: boolean; readonly byUpdate?: boolean } = {},
): Promise<Outcome> {
  const { served, dryRun } = request
  checkDefinitionStays(request, decoded)
  checkNamespaceOpen(engine, request, decoded)
  const tracked = options.tracked
    ? decoded
    : await track(engine, request, withoutDuplicateOwners(request, decoded, false))
  if (isLong(request)) await rest(request)
  const review = admissionOf(engine, request, 'CREATE')
  const admitted = review ? await review.mutate(tracked, undefined) : tracked
  const judged = born(engine, request, withoutDuplicateOwners(request, admitted, true))
  const context = contextOf(engine, request)
  served.definition.strategy.prepare?.(judged as Record<string, unknown>, undefined, context)
  checkValid(request, judged, undefined, context)
  if (isLong(request)) await rest(request)
  if (served.definition.crd) append(request.warnings, finalizerWarnings(judged.metadata))
  if (review) await review.validate(judged, undefined)
  await served.definition.strategy.authorizeWrite?.(judged, undefined, context)
  const object = options.tracked ? withoutNulls(request, judged) : judged

  if (!dryRun && !options.byUpdate) checkNoRevision(decoded)
  const name = object.metadata.name!
  const key = served.key(request.namespace, name)
  // What cannot be converted cannot be stored, whether there is room for it or not.
  const stored = served.isStorage ? object : await toStorage(engine, request, object)
  if (engine.store.tip(key)) {
    await settled(engine, key)
    throw existing(request, object)
  }
  if (dryRun) return await imagined(engine, request, object, true)
  try {
    const put = { do: 'put', key, object: stored, expect: 'absent' } as const
    const [change] = await commitPut(engine, served, put, { mayDropOwners: !options.tracked })
    return await outcomeOf(request, change!.now, true)
  } catch (error) {
    if (!(error instanceof PreconditionError)) throw error
    await settled(engine, key)
    throw existing(request, object)
  }
}

/** While a CRD goes, its objects go, and no new ones come. */
function checkDefinitionStays({ served }: WriteRequest, { metadata }: KubeObject): void {
  if (!served.definition.crd?.deleting) return
  const why = 'create not allowed while custom resource definition is terminating'
  throw forbidden(served.type, metadata.name ?? '', why)
}

/** Asked last, as by a store: what is invalid is told first, a dry run stores nothing, and what is no number is no revision. */
function checkNoRevision({ metadata: { resourceVersion = '' } }: KubeObject): void {
  if (!/^0*[1-9]\d*$/.test(resourceVersion)) return
  throw new StatusError(500, '', 'resourceVersion should not be set on objects to be created')
}

function track(engine: Engine, request: WriteRequest, object: KubeObject): KubeObject | Promise<KubeObject> {
  const { served, fieldManager } = request
  return served.fields.trackUpdate({
    updated: withoutStatus(request, object),
    manager: fieldManager,
    version: served.apiVersion,
    now: engine.clock.now(),
    resetFields: resetFieldsOf(request),
  })
}

function existing({ served }: WriteRequest, object: KubeObject): StatusError {
  const { name = '', generateName } = object.metadata
  if (!generateName) return alreadyExists(served.type, name)
  const { message, details } = alreadyExists(served.type, name)
  return new StatusError(
    409,
    'AlreadyExists',
    `${message}, the server was not able to generate a unique name for the object`,
    {
      details: { ...details, retryAfterSeconds: 1 },
    },
  )
}

/** A status that a creator sends is nobody's field where status has an endpoint of its own. */
function withoutStatus({ served }: Pick<WriteRequest, 'served'>, object: KubeObject): KubeObject {
  if (!served.version.subresources.status || !('status' in object) || !served.definition.crd) return object
  const { status: _, ...rest } = object
  return rest as KubeObject
}

/** The fields that only the server gives. */
function born(engine: Engine, { served, namespace, dryRun }: WriteRequest, object: KubeObject): KubeObject {
  const { generation } = served.definition.strategy
  const {
    resourceVersion,
    deletionTimestamp: _d,
    deletionGracePeriodSeconds: _g,
    selfLink: _s,
    ...given
  } = object.metadata
  const { name, generateName, labels, annotations, uid: _u, namespace: _n, creationTimestamp: _c, ...rest } = given
  const { generation: wished, ...others } = rest
  // In the order of Go's ObjectMeta, which is how people are used to read it.
  const metadata: Mutable<ObjectMeta> = { name }
  if (generateName) metadata.generateName = generateName
  if (namespace) metadata.namespace = namespace
  metadata.uid = randomUUID()
  // A dry run gives none and shows the one that was sent; otherwise this keeps its place, and the store fills it in.
  metadata.resourceVersion = dryRun ? resourceVersion : undefined
  if (generation === 'onChange') metadata.generation = 1
  metadata.creationTimestamp = timestamp(engine.clock.now())
  if (labels) metadata.labels = labels
  if (annotations) metadata.annotations = annotations
  if (generation === 'never' && wished !== undefined) metadata.generation = wished
  Object.assign(metadata, others)
  return { ...withoutStatus({ served }, object), metadata }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** Whoever makes an object by updating or applying it must be allowed to create it, too. */
export function checkMayCreate({ authorizer }: Engine, { served, namespace, name, user }: WriteRequest): void {
  const { group, resource } = served.type
  const attributes = { user, verb: 'create', group, resource, subresource: '', namespace, name }
  const { allowed, reason } = authorizer.authorize(attributes)
  if (!allowed) throw forbiddenError(attributes, reason)
}
