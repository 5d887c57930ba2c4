import { randomUUID } from 'node:crypto'
import type { Values } from '../values.js'
import type { Polling } from './behavior.js'
import { idOf, type Target } from './resource-id.js'

/** A resource as it was asked for. Answers add what the service knows. */
export interface Stored {
  readonly target: Target
  readonly id: string
  readonly type: string
  readonly location: string
  /** The body of the request, and of those before it where the service merges them. */
  body: Values
  /** Values that the service chose once: identifiers, dates, generated names. */
  readonly facts: Record<string, string>
  readonly createdAt: number
  etag: string
  phase: 'creating' | 'updating' | 'ready' | 'deleting'
  operation: Operation | undefined
}

/** Work that goes on after the answer. */
export interface Operation {
  readonly id: string
  readonly startedAt: number
  readonly resource: Stored
  readonly polling: Polling
  readonly statusPath: string | undefined
  readonly resultPath: string | undefined
  readonly apiVersion: string
  endsAt: number
  readonly complete: () => void
  finished: boolean
}

export interface WorldOptions {
  readonly now: () => number
  /** How long an operation takes. */
  readonly operationMs: number
  readonly tenant: string
}

/** Everything that the emulator knows: resources and operations. The caller provides the time. */
export class World {
  readonly #resources = new Map<string, Stored>()
  readonly #operations = new Map<string, Operation>()
  readonly options: WorldOptions

  constructor(options: WorldOptions) {
    this.options = options
  }

  get now(): number {
    return this.options.now()
  }

  find(id: string): Stored | undefined {
    this.advance()
    return this.#resources.get(id.toLowerCase())
  }

  findTarget(target: Target): Stored | undefined {
    return this.find(idOf(target))
  }

  put(resource: Stored): void {
    this.#resources.set(resource.id.toLowerCase(), resource)
  }

  /** Removes a resource and everything below it. */
  remove(id: string): void {
    const prefix = id.toLowerCase()
    for (const key of this.#resources.keys()) {
      if (key === prefix || key.startsWith(`${prefix}/`)) this.#resources.delete(key)
    }
  }

  /** All resources of a type, below an id. */
  *below(prefix: string, type: string): IterableIterator<Stored> {
    this.advance()
    const start = `${prefix.toLowerCase()}/`
    for (const [key, resource] of this.#resources) {
      if (key.startsWith(start) && resource.type.toLowerCase() === type.toLowerCase()) yield resource
    }
  }

  begin(given: Omit<Operation, 'id' | 'startedAt' | 'endsAt' | 'finished' | 'statusPath' | 'resultPath'>): Operation {
    const id = randomUUID()
    const { resource, polling } = given
    const path = (template: string | undefined) => template && filled(template, resource, id)
    const operation: Operation = {
      ...given,
      id,
      startedAt: this.now,
      endsAt: this.now + this.options.operationMs,
      finished: false,
      statusPath: path(polling.status),
      resultPath: path(polling.result),
    }
    resource.operation = operation
    for (const at of [operation.statusPath, operation.resultPath])
      if (at) this.#operations.set(at.toLowerCase(), operation)
    return operation
  }

  operationAt(path: string): Operation | undefined {
    this.advance()
    return this.#operations.get(path.toLowerCase())
  }

  /** Ends an operation now, or keeps it under way until it is ended: for replays of recorded sessions. */
  schedule(path: string, endsAt: number): void {
    const operation = this.#operations.get(path.toLowerCase())
    if (operation && !operation.finished) operation.endsAt = endsAt
    this.advance()
  }

  /** Completes what is due. */
  advance(): void {
    for (const operation of this.#operations.values()) {
      if (operation.finished || operation.endsAt > this.now) continue
      operation.finished = true
      if (operation.resource.operation === operation) operation.resource.operation = undefined
      operation.complete()
    }
  }
}

function filled(template: string, { target, location }: Stored, operation: string): string {
  return template
    .replace('{subscription}', target.subscription)
    .replace('{group}', target.group ?? '')
    .replace('{location}', encodeURIComponent(location))
    .replace('{operation}', operation)
}
