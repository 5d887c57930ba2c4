import type { KubeObject } from '@crosstie/kube'
import type { AdmissionView, Review } from '../admission/review.js'
import type { WriteContext } from '../definitions/definition.js'
import type { Engine } from '../serving/engine.js'
import { contextOf, type Outcome, type WriteRequest } from '../serving/request.js'
import type { Stored } from '../store/store.js'
import { turnsOf } from './turns.js'

/** The part of a write that differs between create, update, patch and apply. The stages do the rest. */
export interface WriteVerb<Decoded = unknown> {
  /** Whether the object must be new, must exist, or is created when it does not exist. */
  readonly target: 'new' | 'existing' | 'either'
  /** Reads the body. Called once for each request, before the live object is read. */
  decode?(): Decoded
  /**
   * Returns the object to store: decoded, pruned and with defaults. Called again for each attempt. `live` is undefined for a
   * new object, and never for the target 'existing'.
   */
  propose(decoded: Decoded, live: KubeObject | undefined): Proposal | Promise<Proposal>
}

/** The object that a verb proposes to store. */
export interface Proposal {
  readonly object: KubeObject
  /** True when the verb computed managedFields itself, as server-side apply does. */
  readonly ownershipTracked?: boolean
  /** The form that admission reviews instead of the object. Only the scale subresource has one. */
  readonly admitted?: AdmittedAs
}

/** How admission reviews a subresource whose objects have another kind than the resource. */
export interface AdmittedAs {
  readonly view: AdmissionView
  readonly object: KubeObject
  readonly old: KubeObject
  /** Returns the proposed object with the changes that admission made to the reviewed form. */
  merge(mutated: KubeObject): KubeObject
  /** Returns the reviewed form of the final object. */
  show(object: KubeObject): KubeObject
}

/** One step of the write path. It reads and changes the operation, and throws a StatusError to refuse the write. */
export type Stage = (operation: WriteOperation) => void | Promise<void>

/** The state of one write while it passes the stages. Fields below `attempts` belong to the current attempt. */
export class WriteOperation {
  readonly engine: Engine
  readonly request: WriteRequest
  readonly verb: WriteVerb
  readonly key: string
  /** The result of `verb.decode`. */
  decoded: unknown
  attempts = 0

  context: WriteContext
  /** The newest version in the store, which may not be durable yet. Undefined for a new object. */
  tip: Stored | undefined
  /** `tip` in the version of the request. */
  live: KubeObject | undefined
  proposal: Proposal
  /** The object as the stages so far left it. */
  object: KubeObject
  /** Whether a webhook changed the object. */
  mutated = false
  /** Webhooks and policies for this write. Undefined when none is interested. */
  review: Review | undefined
  /** Set by the last stage. Still undefined when another writer was faster. */
  outcome: Outcome | undefined
  #endTurn: (() => void) | undefined

  constructor(engine: Engine, request: WriteRequest, verb: WriteVerb) {
    this.engine = engine
    this.request = request
    this.verb = verb
    this.key = request.served.key(request.namespace, request.name)
    this.context = contextOf(engine, request)
    this.proposal = NOT_PROPOSED
    this.object = NOT_PROPOSED.object
  }

  /** Forgets the previous attempt. */
  begin(): void {
    if (this.attempts++ === 0) return
    this.context = contextOf(this.engine, this.request)
    this.tip = undefined
    this.live = undefined
    this.mutated = false
    this.review = undefined
  }

  /** Whether other writers retry on the same object, or this one does. */
  get contended(): boolean {
    return this.attempts > 1 || turnsOf(this.engine).contended(this.key)
  }

  /** Waits until the writers that came before are done. A writer keeps its turn through all attempts. */
  async takeTurn(): Promise<void> {
    this.#endTurn ??= await turnsOf(this.engine).take(this.key)
  }

  /** Lets the next writer of the object continue. */
  endTurn(): void {
    this.#endTurn?.()
  }
}

const NOT_PROPOSED: Proposal = { object: { apiVersion: '', kind: '', metadata: {} } }
