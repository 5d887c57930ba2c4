import { CallError, type CallOptions } from '../protocol/channel.js'
import { type Diagnostic, errorsIn, type Path, throwErrors } from '../protocol/diagnostics.js'
import { decodeValue, encodeValue } from '../protocol/encoded.js'
import { encodeJson } from '../protocol/json.js'
import type { Answer, ProviderClient, ProviderSchema } from '../protocol/provider-client.js'
import type { IdentitySchema, Schema } from '../protocol/schema.js'
import type { CtyType } from '../protocol/types.js'
import { isWhollyKnown, memberType, sameValue, type Value } from '../protocol/values.js'
import type { WireValue } from '../protocol/wire.js'
import { changesBetween, type ValueChange } from './changes.js'
import { normalizeLegacy } from './legacy.js'
import { proposedNewState, valueAt } from './proposed.js'
import { withoutWriteOnly } from './write-only.js'

/** State of a resource as it is stored: what Terraform keeps for an instance in a state file. */
export interface StoredState {
  /** The attributes, in JSON, unchanged as the provider gave them. */
  readonly attributes: string
  readonly schemaVersion: number
  /** The provider's private data, in base64. */
  readonly private: string
  /** The identity, in JSON. */
  readonly identity?: string
  readonly identityVersion?: number
}

/** State of a resource in the provider's current schema version. */
export interface CurrentState {
  readonly value: Value
  readonly wire: WireValue
  readonly private: Uint8Array
  readonly identity: WireValue | undefined
}

/** A change that the provider planned. */
export interface PlannedChange {
  readonly action: 'none' | 'create' | 'update' | 'replace'
  readonly changes: readonly ValueChange[]
  /** The arguments whose change the provider cannot make in place. */
  readonly requiresReplace: readonly Path[]
  readonly warnings: readonly Diagnostic[]
  readonly prior: CurrentState | undefined
  readonly config: WireValue
  readonly planned: WireValue
  readonly plannedValue: Value
  readonly private: Uint8Array
  readonly identity: WireValue | undefined
}

/** How an apply ended. With errors and a state, it was carried out in part. */
export interface Applied {
  /** Undefined when the resource does not exist. */
  readonly state: CurrentState | undefined
  readonly diagnostics: readonly Diagnostic[]
}

/** The life cycle of resources of one type, through one provider process. */
export class ResourceCalls {
  readonly schema: Schema
  readonly identity: IdentitySchema | undefined
  readonly #planDestroy: boolean
  readonly #null: WireValue

  constructor(
    private readonly client: ProviderClient,
    readonly type: string,
    provider: ProviderSchema,
  ) {
    const schema = provider.resources.get(type)
    if (!schema) throw new Error(`the provider has no resource type ${type}`)
    this.schema = schema
    this.identity = provider.identities.get(type)
    this.#planDestroy = provider.planDestroy
    this.#null = encodeValue(schema.type, null)
  }

  /** Stored state in the current schema version. Throws when a newer version of the provider wrote it. */
  async load(stored: StoredState, options: CallOptions = {}): Promise<CurrentState> {
    const { version } = this.schema
    if (stored.schemaVersion > version) {
      throw new Error(
        `the state of ${this.type} was written with schema version ${stored.schemaVersion}, and this version of the ` +
          `provider knows versions up to ${version}: use a newer version of the provider`,
      )
    }
    const bytes = Buffer.from(stored.attributes)
    const { state } = await this.client.upgrade(this.type, stored.schemaVersion, bytes, options)
    return this.#current(state, Buffer.from(stored.private, 'base64'), await this.#loadIdentity(stored, options))
  }

  async #loadIdentity({ identity, identityVersion = 0 }: StoredState, options: CallOptions) {
    if (identity === undefined || !this.identity) return undefined
    const json = Buffer.from(identity)
    if (identityVersion === this.identity.version) return { json }
    return await this.client.upgradeIdentity(this.type, identityVersion, json, options)
  }

  /** State in the form in which it is stored. */
  store(state: CurrentState): StoredState {
    const identity = state.identity && this.identity ? decodeValue(this.identity.type, state.identity) : null
    return {
      attributes: encodeJson(this.schema.type, withoutWriteOnly(this.schema.block, state.value)),
      schemaVersion: this.schema.version,
      private: Buffer.from(state.private).toString('base64'),
      ...(identity === null || !this.identity
        ? {}
        : { identity: encodeJson(this.identity.type, identity), identityVersion: this.identity.version }),
    }
  }

  /** The resource as it is now; undefined when it is gone. Warnings of the provider are dropped: they repeat at every read. */
  async read(state: CurrentState, options: CallOptions = {}): Promise<CurrentState | undefined> {
    const stored = { state: state.wire, private: state.private, identity: state.identity }
    const answer = await this.client.read(this.type, stored, options)
    throwErrors(answer.diagnostics)
    const read = this.#current(answer.state, answer.private, answer.identity)
    return read.value === null ? undefined : read
  }

  /** Checks a configuration. Throws when the provider refuses it; returns its warnings. */
  async validate(config: Value, options: CallOptions = {}): Promise<readonly Diagnostic[]> {
    const wire = encodeValue(this.schema.type, config)
    const diagnostics = await this.client.validate('resource', this.type, wire, options)
    throwErrors(diagnostics)
    return diagnostics
  }

  /** Asks the provider for the change that would bring the resource in line with a configuration. */
  async plan(prior: CurrentState | undefined, config: Value, options: CallOptions = {}): Promise<PlannedChange> {
    const { block, type } = this.schema
    const before = prior?.value ?? null
    const proposed = proposedNewState(block, before, config)
    const wire = encodeValue(type, config)
    const answer = await this.client.plan(
      {
        type: this.type,
        prior: prior?.wire ?? this.#null,
        proposed: encodeValue(type, proposed),
        config: wire,
        private: prior?.private ?? new Uint8Array(),
        identity: prior?.identity,
      },
      options,
    )
    throwErrors(answer.diagnostics)
    const planned = normalizeLegacy(block, decodeValue(type, answer.state))
    if (planned === null) throw new Error(`the provider planned to remove ${this.type}, which is a bug in the provider`)
    const known = normalizeLegacy(block, before)
    const replaced = prior ? answer.requiresReplace.filter((path) => differsAt(type, known, planned, path)) : []
    const changes = changesBetween(type, known, planned)
    return {
      action: !prior ? 'create' : replaced.length > 0 ? 'replace' : changes.length > 0 ? 'update' : 'none',
      changes,
      requiresReplace: replaced,
      warnings: answer.diagnostics,
      prior,
      config: wire,
      planned: answer.state,
      plannedValue: planned,
      private: answer.private,
      identity: answer.identity,
    }
  }

  /**
   * Carries out a plan that creates or updates. Throws a CallError when the provider gave no answer: then it is not known
   * what it did.
   */
  async apply(plan: PlannedChange, options: CallOptions = {}): Promise<Applied> {
    const answer = await this.client.apply(
      {
        type: this.type,
        prior: plan.prior?.wire ?? this.#null,
        planned: plan.planned,
        config: plan.config,
        private: plan.private,
        identity: plan.identity ?? plan.prior?.identity,
      },
      options,
    )
    return this.#applied(answer, plan.prior)
  }

  /** Deletes the resource. The state that remains after an error is what the provider says is left of it. */
  async destroy(state: CurrentState, options: CallOptions = {}): Promise<Applied> {
    const nothing = { type: this.type, prior: state.wire, config: this.#null, identity: state.identity }
    let { private: secret } = state
    if (this.#planDestroy) {
      const plan = await this.client.plan({ ...nothing, proposed: this.#null, private: secret }, options)
      throwErrors(plan.diagnostics)
      secret = plan.private
    }
    const answer = await this.client.apply({ ...nothing, planned: this.#null, private: secret }, options)
    const applied = this.#applied(answer, state)
    if (applied.state && errorsIn(applied.diagnostics).length === 0) {
      throw new Error(`the provider kept state of ${this.type} after deleting it, which is a bug in the provider`)
    }
    return applied
  }

  /** Finds an existing resource. Undefined when the provider says that it does not exist. */
  async import(
    by: { readonly id: string } | { readonly identity: Value },
    options: CallOptions = {},
  ): Promise<CurrentState | undefined> {
    const { imported, diagnostics } = await this.client.import(
      this.type,
      'id' in by ? by : { identity: encodeValue(this.identity!.type, by.identity) },
      options,
    )
    throwErrors(diagnostics)
    const found = imported.find(({ type }) => type === this.type)
    if (!found) return undefined
    const state = this.#current(found.state, found.private, found.identity)
    return state.value === null ? undefined : await this.read(state, options)
  }

  /** An answer with errors and without a state says nothing new: what was there before is still there. */
  #applied(answer: Answer, prior: CurrentState | undefined): Applied {
    const failed = errorsIn(answer.diagnostics).length > 0
    const isAbsent = !answer.state.msgpack?.length && !answer.state.json?.length
    if (failed && isAbsent) return { state: prior, diagnostics: answer.diagnostics }
    const state = this.#current(answer.state, answer.private, answer.identity ?? prior?.identity)
    if (!failed && !isWhollyKnown(state.value)) {
      throw new CallError(`the provider returned unknown values after applying ${this.type}`, 13)
    }
    return { state: state.value === null ? undefined : state, diagnostics: answer.diagnostics }
  }

  #current(wire: WireValue, secret: Uint8Array, identity: WireValue | undefined): CurrentState {
    return { value: decodeValue(this.schema.type, wire), wire, private: secret, identity }
  }
}

/** A provider may name arguments that did not change; they do not count. */
function differsAt(type: CtyType, before: Value, after: Value, path: Path): boolean {
  const was = valueAt(before, path)
  const is = valueAt(after, path)
  if (was === undefined || is === undefined) return was !== is
  return !sameValue(path.reduce(memberType, type), was, is)
}
