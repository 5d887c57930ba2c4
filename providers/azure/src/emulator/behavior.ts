import type { Values } from '../values.js'
import type { Target } from './resource-id.js'
import type { Stored, World } from './world.js'

/** How a service answers a request that changes something. */
export interface Answer {
  readonly status: number
  /** `operation`: a short note of what was begun; `empty`: `{}`; absent: no body. */
  readonly body?: 'resource' | 'operation' | 'empty'
  /** The work goes on after the answer. Absent: it is done. */
  readonly polling?: Polling
}

export interface Polling {
  /** Header `Azure-AsyncOperation`: the path of the operation, with `{subscription}`, `{group}`, `{location}` and `{operation}`. */
  readonly status?: string
  /** Header `Location`: the path of the result. */
  readonly result?: string
  readonly retryAfter?: number | undefined
  /** The name of the work in the body of the answer. */
  readonly operation?: string
  /** The operation names itself and its start. */
  readonly detailed?: boolean
  /** Polls that come too early are answered with 202 rather than 200. */
  readonly accepted?: boolean
  /** Seconds between polls of an operation that is under way. Absent: `retryAfter`. */
  readonly pollAfter?: number
  /** The final answer of the result path. */
  readonly final?: 'resource' | 'none'
}

export interface Change {
  readonly target: Target
  readonly body: Values
  readonly apiVersion: string
  readonly held: Stored | undefined
  readonly world: World
}

/** A type of resource, as its service treats it. */
export interface Behavior {
  readonly create: Answer
  readonly update: Answer
  readonly remove: Answer
  /** Reads miss the resource until its creation is complete, and show the old values until an update is. */
  readonly hidden?: boolean
  /** How a read of a missing resource is answered. */
  readonly missing?: 'gateway' | 'provider' | 'empty'
  /** The location in answers. Absent: the type has none. */
  readonly location?: 'short' | 'display' | 'parent'
  /** Tags are in every answer, even if the resource has none. */
  readonly tags?: 'always'
  /** Its id has `resourcegroups` in lower case. */
  readonly lowerGroup?: boolean
  /** The parent brings it, with this name: it is there without a PUT, and DELETE resets it. */
  readonly singleton?: string
  /** A PUT keeps values that it does not name. */
  readonly merges?: boolean
  /** Throws the answer of the service to a request that it does not accept. */
  check?(change: Change): void
  checkRemove?(held: Stored, world: World): void
  /** The update is complete with the answer, although others are not. */
  quick?(change: Change): boolean
  /** The members of the answer beside id, name, type, location and tags. */
  show(resource: Stored, world: World, apiVersion: string): Values
  /** After the resource was written: children that came in its body. */
  written?(resource: Stored, world: World): void
}

export const done = (status: number, body?: Answer['body']): Answer => ({ status, ...(body ? { body } : {}) })
