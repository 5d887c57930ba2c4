import { setTimeout as wait } from 'node:timers/promises'
import { isObject } from '@crosstie/kube'
import type { Values } from '../schema/convert.js'
import type { GoogleClient, Parameters } from './client.js'
import { operationFailure } from './errors.js'

/** How an API reports its long-running operations. */
export interface OperationForm {
  /** The method that reads an operation, and its parameters. Undefined: the response is the result itself. */
  poll(client: GoogleClient, operation: Values, place: string): { readonly method: string; readonly params: Parameters }
}

/** The error of an operation that is done; undefined when it succeeded. */
interface OperationError {
  readonly reason: string
  readonly message: string
}

const FIRST_DELAY_MS = 100
const DELAY_MAX_MS = 2_000
/** A reconciliation does not block longer than this: the next one observes the progress. */
const WAIT_MS = 8_000

export const computeOperations: OperationForm = {
  poll: ({ project }, { name, region, zone }) => {
    const operation = String(name)
    if (region) return { method: 'regionOperations.get', params: { project, region: tailOf(region), operation } }
    if (zone) return { method: 'zoneOperations.get', params: { project, zone: tailOf(zone), operation } }
    return { method: 'globalOperations.get', params: { project, operation } }
  },
}

export const containerOperations: OperationForm = {
  poll: ({ project }, { name }, place) => ({
    method: 'projects.locations.operations.get',
    params: { name: `projects/${project}/locations/${place}/operations/${String(name)}` },
  }),
}

export const sqlOperations: OperationForm = {
  poll: ({ project }, { name }) => ({ method: 'operations.get', params: { project, operation: String(name) } }),
}

/** The operations of the newer APIs carry their full name. */
export const namedOperations: OperationForm = {
  poll: (_, { name }) => ({ method: 'projects.locations.operations.get', params: { name: String(name) } }),
}

const tailOf = (link: unknown): string => String(link).split('/').at(-1) ?? ''

export interface Awaited {
  readonly client: GoogleClient
  readonly form: OperationForm
  /** Location or region of the resource. */
  readonly place: string
  /** For messages: the permission of the call that began the operation, and the resource. */
  readonly permission: string
  readonly target: string
  readonly signal: AbortSignal
}

/**
 * Waits a short time for an operation. Returns whether it is done. Throws when it failed.
 *
 * An operation that takes longer continues without us. Nothing of it needs to be stored: the name of the resource, and for
 * compute the request id, lead to it again after a crash.
 */
export async function awaitOperation(operation: Values, awaited: Awaited): Promise<boolean> {
  const { client, form, place, permission, target, signal } = awaited
  const end = Date.now() + WAIT_MS
  let current = operation
  let delay = FIRST_DELAY_MS
  while (!isDone(current)) {
    if (Date.now() + delay > end) return false
    await wait(delay, undefined, { signal })
    delay = Math.min(delay * 2, DELAY_MAX_MS)
    const { method, params } = form.poll(client, current, place)
    current = await client.call(method, params, signal)
  }
  const error = errorOf(current)
  if (error) throw operationFailure(permission, target, error.reason, error.message)
  return true
}

/** Some methods answer with the resource itself: nothing is left to wait for. */
function isDone({ status, done, operationType, metadata }: Values): boolean {
  if (done !== undefined || isObject(metadata)) return done === true
  return status === 'DONE' || (operationType === undefined && status === undefined)
}

function errorOf({ error, statusMessage }: Values): OperationError | undefined {
  if (!isObject(error)) return undefined
  const [first] = Array.isArray(error['errors']) ? error['errors'] : []
  const { code, status, message } = isObject(first) ? { status: undefined, ...first } : error
  return { reason: String(code ?? status ?? 'error'), message: String(message ?? statusMessage ?? 'no details') }
}
