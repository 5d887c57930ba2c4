import { sleep } from '@crosstie/controller'
import {
  apiVersionOf,
  conditionsOf,
  ignoring,
  isNotFound,
  type KubeObject,
  nameOf,
  type ResourceType,
  StatusError,
  statusOf,
} from '@crosstie/kube'
import type { DiscoveryRequestSpec, PlanRequestSpec } from '@crosstie/resources'
import { type Command, type Input, UsageError } from '../command.js'
import type { Api } from './access.js'

/** Makes a command work with the providers and credentials of its own process. */
export const localOption: Command['options'] = {
  local: {
    type: 'boolean',
    help: 'Do it in this process, with the providers of --providers and their credentials here, instead of asking the control plane',
  },
}

const POLL_MS = 100
/** A control plane that runs starts on a request at once. */
const START_MS = 20_000
const SELF_REVIEWS: ResourceType = {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectReview',
  resource: 'selfsubjectreviews',
  namespaced: false,
}

type Spec = Omit<PlanRequestSpec, 'requestedBy'> | Omit<DiscoveryRequestSpec, 'requestedBy'>

/**
 * Asks the control plane through the API: creates a request, waits for the answer in its status, deletes the request and
 * returns the status. Throws with the message of the control plane when it refuses.
 */
export async function requestAnswer<T extends object>(
  { signal }: Pick<Input, 'signal'>,
  api: Api,
  type: ResourceType,
  spec: Spec,
): Promise<Partial<T>> {
  const request = await createRequest(api, type, spec, signal)
  const key = { name: nameOf(request), namespace: api.namespace }
  try {
    const answered = await awaitAnswer(api, type, key, signal)
    const complete = conditionsOf(answered).find((condition) => condition.type === 'Complete')
    if (complete?.status === 'True') return statusOf<T>(answered)
    const message = complete?.message ?? 'the control plane gave no reason'
    if (complete?.reason === 'NotFound') throw new StatusError(404, 'NotFound', message)
    throw complete?.reason === 'InvalidRequest' ? new UsageError(message) : new Error(message)
  } finally {
    // The controllers delete requests that stay behind.
    await api.client.delete(type, key, {}).catch(() => undefined)
  }
}

async function createRequest(api: Api, type: ResourceType, spec: Spec, signal: AbortSignal): Promise<KubeObject> {
  const served = (await api.kinds()).of({ apiVersion: apiVersionOf(type), kind: type.kind })
  if (!served) {
    throw new Error(
      `the server at ${api.server} has no kind ${type.kind}: no Crosstie control plane of this version serves it. ` +
        'Start one, or use --local',
    )
  }
  const self = await api.client.create<KubeObject>(
    SELF_REVIEWS,
    { apiVersion: apiVersionOf(SELF_REVIEWS), kind: SELF_REVIEWS.kind, metadata: {} },
    { signal },
  )
  const { userInfo } = statusOf<{
    readonly userInfo: { readonly username: string; readonly groups?: readonly string[] }
  }>(self)
  const { username = '', groups = [] } = userInfo ?? {}
  const metadata = { generateName: `${type.kind.toLowerCase()}-`, namespace: api.namespace }
  const object = {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata,
    spec: { requestedBy: { username, groups }, ...spec },
  }
  return await api.client.create<KubeObject>(type, object, { signal })
}

async function awaitAnswer(
  api: Api,
  type: ResourceType,
  key: { readonly name: string; readonly namespace: string },
  signal: AbortSignal,
): Promise<KubeObject> {
  const deadline = Date.now() + START_MS
  for (;;) {
    const request = await api.client.get<KubeObject>(type, key, { signal }).catch(ignoring(isNotFound))
    if (!request) throw new Error(`the ${type.kind} ${key.name} was deleted before it was answered`)
    const { completionTime } = statusOf<{ readonly completionTime: string }>(request)
    if (completionTime !== undefined) return request
    if (conditionsOf(request).length === 0 && Date.now() > deadline) {
      throw new Error(
        `no control plane has taken the ${type.kind} within ${START_MS / 1000} s: check that one runs and is connected to ` +
          `${api.server}, or use --local`,
      )
    }
    await sleep(POLL_MS, signal)
    signal.throwIfAborted()
  }
}

/** Throws a UsageError for options that only the process of a local plan uses. */
export function checkLocalOptions(
  { values, given }: Pick<Input, 'values' | 'given'>,
  options: readonly string[],
): void {
  if (values['local'] === true) return
  const useless = options.find((name) => given.has(name))
  if (useless === undefined) return
  throw new UsageError(
    `--${useless} needs --local: without it the control plane answers, with its own providers and settings`,
  )
}
