import { readFile } from 'node:fs/promises'
import type { Controller, Next } from '@crosstie/controller'
import {
  type Condition,
  groupResource,
  ignoring,
  isConflict,
  isNotFound,
  type KubeObject,
  messageOf,
  type ObjectKey,
  type ResourceType,
  statusOf,
  systemClock,
  timestamp,
} from '@crosstie/kube'
import { unlimited } from '../external/budget.js'
import { specOf } from '../metadata/binding.js'
import { isDeleted } from '../metadata/metadata.js'
import { writeStatus } from '../status/write.js'
import { RequestError, Rights, verifyIdentity } from './authorize.js'
import { type DiscoveryRequestSpec, discoveryRequestType, type PlanRequestSpec, planRequestType } from './define.js'
import { answerDiscoveryRequest, type DiscoveryOptions } from './discover.js'
import { answerPlanRequest, type Catalog, type PlanningOptions } from './plan.js'

/** The options of `requestControllers`. */
export interface RequestOptions extends Omit<PlanningOptions, 'catalog'> {
  /** Returns the kinds that the control plane manages at the moment of a request. */
  readonly catalog: () => Catalog & { readonly providers: DiscoveryOptions['providers'] }
  readonly budgets?: DiscoveryOptions['budgets']
}

/** Plans of thousands of resources wait for call budgets, so the timeout is long. */
const TIMEOUT_MS = 30 * 60_000
const CONCURRENCY = 4
const TTL_SECONDS = 600
/** The maximum size of a status, which leaves room for the spec and metadata within the limit of the API. */
const STATUS_BYTES_MAX = 1_200_000

type Answer = (request: KubeObject, rights: Rights, signal: AbortSignal) => Promise<object>

/** Returns the controllers that answer PlanRequests and DiscoveryRequests. */
export function requestControllers(options: RequestOptions): readonly Controller[] {
  const surroundings = {
    environment: process.env,
    readFile: (path: string) => readFile(path, 'utf8'),
    ...options.surroundings,
  }
  const plan: Answer = (request, rights, signal) =>
    answerPlanRequest({ ...options, catalog: options.catalog() }, specOf<PlanRequestSpec>(request), rights, signal)
  const discover: Answer = (request, rights, signal) => {
    const { client, budgetsFor, budgets = unlimited } = options
    const { providers } = options.catalog()
    const discovery = { client, providers, surroundings, budgets, ...(budgetsFor ? { budgetsFor } : {}) }
    return answerDiscoveryRequest(discovery, specOf<DiscoveryRequestSpec>(request), rights, signal)
  }
  return [requestController(planRequestType, options, plan), requestController(discoveryRequestType, options, discover)]
}

function requestController(type: ResourceType, options: RequestOptions, answer: Answer): Controller {
  return {
    name: groupResource(type),
    type,
    concurrency: CONCURRENCY,
    timeoutMs: TIMEOUT_MS,
    reconcile: (key, signal) => reconcileRequest(type, options, answer, key, signal),
    wakes: (before) => !before,
  }
}

async function reconcileRequest(
  type: ResourceType,
  options: RequestOptions,
  answer: Answer,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<Next> {
  const { client } = options
  const request = await client.get(type, key, { signal }).catch(ignoring(isNotFound))
  if (!request || isDeleted(request)) return { after: 'never' }
  const { completionTime } = statusOf<{ readonly completionTime?: string }>(request)
  if (completionTime !== undefined) return await expire(type, options, request, completionTime, signal)
  const started = await report(type, options, request, {}, IN_PROGRESS, signal)
  if (!started) return { after: 'backoff' }
  const { status, complete } = await outcomeOf(options, answer, started, signal)
  const finished = { ...status, completionTime: timestamp(nowOf(options)) }
  if (!(await report(type, options, started, finished, complete, signal))) return { after: 'backoff' }
  return { after: 'poll', seconds: ttlOf(request) }
}

const IN_PROGRESS: Condition = {
  type: 'Complete',
  status: 'False',
  reason: 'InProgress',
  message: 'the control plane works on the answer',
}

const nowOf = ({ clock = systemClock }: RequestOptions): number => clock.now()

async function outcomeOf(options: RequestOptions, answer: Answer, request: KubeObject, signal: AbortSignal) {
  try {
    await verifyIdentity(options.client, request, signal)
    const { requestedBy } = specOf<PlanRequestSpec>(request)
    const status = await answer(request, new Rights(options.client, requestedBy, signal), signal)
    const bytes = Buffer.byteLength(JSON.stringify(status))
    if (bytes > STATUS_BYTES_MAX) throw tooLarge(bytes)
    return { status, complete: { type: 'Complete', status: 'True', reason: 'Answered' } as const }
  } catch (error) {
    // After an abort, another process answers the request.
    signal.throwIfAborted()
    const failed = { type: 'Complete', status: 'False', message: messageOf(error) } as const
    if (error instanceof RequestError) return { status: {}, complete: { ...failed, reason: error.reason } }
    return {
      status: {},
      complete: { ...failed, ...(isNotFound(error) ? { reason: 'NotFound' } : { reason: 'Failed' }) },
    }
  }
}

const tooLarge = (bytes: number): RequestError =>
  new RequestError(
    'TooLarge',
    `the answer has ${bytes} bytes, and an object can hold ${STATUS_BYTES_MAX}: request fewer objects`,
  )

/** Writes the status. Returns the stored object; undefined if the object was changed or deleted concurrently. */
async function report(
  type: ResourceType,
  options: RequestOptions,
  request: KubeObject,
  more: object,
  complete: Condition,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  const { generation } = request.metadata
  const fields = generation ? { observedGeneration: generation } : {}
  const change = { base: { ...more }, fields, conditions: [complete] }
  const written = writeStatus(options.client, type, request, change, { now: nowOf(options), signal })
  return await written.catch(ignoring(isNotFound, isConflict))
}

async function expire(
  type: ResourceType,
  options: RequestOptions,
  request: KubeObject,
  completionTime: string,
  signal: AbortSignal,
): Promise<Next> {
  const seconds = (Date.parse(completionTime) - nowOf(options)) / 1000 + ttlOf(request)
  if (seconds > 0) return { after: 'poll', seconds }
  const { name = '', namespace, uid } = request.metadata
  const key = { name, ...(namespace ? { namespace } : {}) }
  const preconditions = { ...(uid ? { uid } : {}) }
  await options.client.delete(type, key, { preconditions, signal }).catch(ignoring(isNotFound, isConflict))
  return { after: 'never' }
}

const ttlOf = (request: KubeObject): number => specOf<PlanRequestSpec>(request).ttlSecondsAfterFinished ?? TTL_SECONDS
