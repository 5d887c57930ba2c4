import { isObject, type KubeObject } from '@crosstie/kube'
import {
  absent,
  type ConnectContext,
  type CreateCall,
  type Created,
  type Difference,
  type ExternalCall,
  leaveAlone,
  type ObserveCall,
  type Observed,
  PartialCreateError,
  present,
  UncertainError,
  type UpdateCall,
} from '@crosstie/resources/provider'
import type { ValueChange } from '../plan/changes.js'
import { type Applied, type CurrentState, type PlannedChange, ResourceCalls } from '../plan/resource.js'
import type { ProviderPool, ProviderSetup } from '../process/pool.js'
import { CallError } from '../protocol/channel.js'
import { DiagnosticsError, errorsIn, type Path, throwErrors } from '../protocol/diagnostics.js'
import { decodeValue } from '../protocol/encoded.js'
import { isMap, keyOf } from '../protocol/values.js'
import { configFrom, connectionFrom, fieldPath, reportFrom, shownValue } from './codec.js'
import { Operations } from './operations.js'
import type { ObjectShape } from './shape.js'
import { type StateRecord, StateStore } from './state-store.js'

/** Set to Recreate, it permits to delete and create the external resource where the provider cannot change it in place. */
export const REPLACEMENT_POLICY = 'terraform.crosstie.io/replacement-policy'

export interface ExternalOptions {
  readonly pool: ProviderPool
  /** The Terraform type, such as `random_pet`. */
  readonly type: string
  readonly shape: ObjectShape
  /** Where state is kept. */
  readonly namespace: string
  /** How to reach the provider for an object. */
  setup(context: ConnectContext): ProviderSetup | Promise<ProviderSetup>
}

/** A connection for one object. */
export interface TerraformClient {
  readonly store: StateStore
  readonly setup: ProviderSetup
}

type Values = Readonly<Record<string, unknown>>
type AnyCall = ExternalCall<object, TerraformClient>

/** Updates with the same plan, in a row, after which the difference is reported as one that updates do not remove. */
const SAME_UPDATES_MAX = 3

/** Names by which providers say that a resource has no id. */
const noId = new Set(['', '-', 'none'])

/** The functions of a kind, for one resource type of a Terraform provider. */
export class TerraformExternal {
  readonly #operations = new Operations()
  /** The plan of the last update of an object, and how often it came in a row, by uid. */
  readonly #updates = new Map<string, { readonly key: string; readonly count: number }>()

  constructor(private readonly options: ExternalOptions) {}

  async connect(context: ConnectContext): Promise<TerraformClient> {
    return { store: new StateStore(context.api, this.options.namespace), setup: await this.options.setup(context) }
  }

  async observe(call: ObserveCall<object, TerraformClient>): Promise<Observed> {
    await this.#operations.idle(call.managed, call.signal)
    return await this.#use(call, async (calls) => {
      const found = await this.#current(calls, call)
      if (!found) return absent
      const shown = this.#shown(calls, found, call)
      if (!isCompared(call.managed)) return present({ ...shown, upToDate: true })
      const plan = await this.#plan(calls, found, call)
      if (plan.action === 'none') this.#updates.delete(call.managed.metadata.uid ?? '')
      return present({ ...shown, differences: plan.changes.map((change) => this.#difference(change)) })
    })
  }

  async create(call: CreateCall<object, TerraformClient>): Promise<Created> {
    return await this.#operations.run(call.managed, call.signal, () =>
      this.#use(call, async (calls) => {
        const config = configFrom(this.options.shape, call.forProvider)
        await this.#validate(calls, config)
        const plan = await this.#explained(() => calls.plan(undefined, config))
        const applied = await uncertain(() => calls.apply(plan))
        if (applied.state) await this.#save(calls, call, applied.state)
        const errors = errorsIn(applied.diagnostics)
        if (errors.length > 0) throw this.#createError(calls, call, applied)
        if (!applied.state) throw new Error(`the provider reported success and no state of ${this.options.type}`)
        const { externalName, connection, ...seen } = this.#shown(calls, applied.state, call)
        return { externalName, connection, sight: present({ externalName, connection, ...seen }) }
      }),
    )
  }

  async update(call: UpdateCall<object, TerraformClient>): Promise<void> {
    await this.#operations.run(call.managed, call.signal, () =>
      this.#use(call, async (calls) => {
        const found = await this.#current(calls, call)
        if (!found) throw new Error('the external resource does not exist any longer')
        const plan = await this.#plan(calls, found, call)
        if (plan.action === 'none') return
        if (plan.action === 'replace') await this.#replace(calls, call, found, plan)
        else {
          this.#countUpdate(call.managed, calls, plan)
          await this.#finish(calls, call, await uncertain(() => calls.apply(plan)))
        }
      }),
    )
  }

  async delete(call: AnyCall): Promise<void> {
    await this.#operations.run(call.managed, call.signal, () =>
      this.#use(call, async (calls) => {
        const found = await this.#current(calls, call)
        if (found) await this.#finish(calls, call, await uncertain(() => calls.destroy(found)))
      }),
    )
  }

  /** Stored state, or what an import finds under a name that a user gave. Nothing is written. */
  async #current(calls: ResourceCalls, { client, managed, externalName, signal }: AnyCall) {
    const record = await client.store.load(managed, signal)
    if (record?.state) {
      const { state } = record
      return await this.#explained(async () => calls.read(await calls.load(state, { signal }), { signal }))
    }
    if (externalName === '' || isGone(record, externalName)) return undefined
    return await this.#explained(() => calls.import({ id: externalName }, { signal }))
  }

  async #plan(
    calls: ResourceCalls,
    found: CurrentState,
    call: AnyCall & { readonly ignoreChanges?: readonly string[] },
  ) {
    const spec = (call.managed['spec'] ?? {}) as { initProvider?: Values; ignoreChanges?: readonly string[] }
    const left = [
      ...(call.ignoreChanges ?? spec.ignoreChanges ?? []),
      ...initPaths(spec.initProvider, call.forProvider),
    ]
    const wanted =
      left.length > 0 ? leaveAlone(call.forProvider as Values, left, this.#inputs(found)) : call.forProvider
    const config = configFrom(this.options.shape, wanted)
    await this.#validate(calls, config)
    return await this.#explained(() => calls.plan(found, config, { signal: call.signal }))
  }

  /** The state in the names of forProvider. */
  #inputs(found: CurrentState): Values {
    return reportFrom(this.options.shape, found.value)
  }

  #validate(calls: ResourceCalls, config: Parameters<ResourceCalls['validate']>[0]) {
    return this.#explained(() => calls.validate(config))
  }

  async #replace(calls: ResourceCalls, call: AnyCall, found: CurrentState, plan: PlannedChange): Promise<void> {
    if (call.managed.metadata.annotations?.[REPLACEMENT_POLICY] !== 'Recreate') {
      const fields = plan.requiresReplace.map((path) => this.#field(path)).join(', ')
      throw new Error(
        `${fields} cannot be changed in place: the provider would delete and create the external resource. Restore the ` +
          `value, or set the annotation ${REPLACEMENT_POLICY}: Recreate to permit that`,
      )
    }
    // The next reconcile finds that it is gone and creates it, with all the care that a create takes.
    await this.#finish(calls, call, await uncertain(() => calls.destroy(found)))
  }

  /** Stores what is left after a change, then reports errors. */
  async #finish(calls: ResourceCalls, call: AnyCall, { state, diagnostics }: Applied): Promise<void> {
    if (state) await this.#save(calls, call, state)
    else await call.client.store.save(call.managed, { externalName: call.externalName, state: undefined })
    throwErrors(diagnostics, (path) => this.#field(path))
  }

  async #save(calls: ResourceCalls, call: AnyCall, state: CurrentState): Promise<void> {
    const externalName = nameOf(calls, state, call)
    await call.client.store.save(call.managed, { externalName, state: calls.store(state) })
  }

  #createError(calls: ResourceCalls, call: AnyCall, { state, diagnostics }: Applied): Error {
    const error = new DiagnosticsError(diagnostics, (path) => this.#field(path))
    return state ? new PartialCreateError(error.message, nameOf(calls, state, call), { cause: error }) : error
  }

  #shown(calls: ResourceCalls, state: CurrentState, call: AnyCall) {
    const { shape } = this.options
    return {
      externalName: nameOf(calls, state, call),
      ready: true,
      connection: connectionFrom(shape, state.value),
      atProvider: reportFrom(shape, state.value),
    }
  }

  #countUpdate({ metadata: { uid = '' } }: KubeObject, calls: ResourceCalls, plan: PlannedChange): void {
    const key = `${keyOf(calls.schema.type, plan.prior?.value ?? null)} ${keyOf(calls.schema.type, plan.plannedValue)}`
    const last = this.#updates.get(uid)
    const count = last?.key === key ? last.count + 1 : 1
    this.#updates.set(uid, { key, count })
    if (count <= SAME_UPDATES_MAX) return
    const fields = plan.changes.map(({ path }) => this.#field(path)).join(', ')
    throw new Error(
      `${SAME_UPDATES_MAX} updates did not change ${fields}: the provider reports the same difference each time. Set the ` +
        'value that the provider reports, or name the field in spec.ignoreChanges',
    )
  }

  #difference({ path, before, after }: ValueChange): Difference {
    const { text, shape, secret } = fieldPath(this.options.shape, path)
    return { path: text, desired: shownValue(shape, after, secret), observed: shownValue(shape, before, secret) }
  }

  #field(path: Path): string {
    return `spec.forProvider.${fieldPath(this.options.shape, path).text}`
  }

  /** Diagnostics in the words of the object. */
  async #explained<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run()
    } catch (error) {
      if (!(error instanceof DiagnosticsError)) throw error
      throw new DiagnosticsError(error.diagnostics, (path) => this.#field(path))
    }
  }

  #use<T>(call: AnyCall, run: (calls: ResourceCalls) => Promise<T>): Promise<T> {
    const { pool, type } = this.options
    return pool.use(
      call.client.setup,
      ({ client, schema }) => run(new ResourceCalls(client, type, schema)),
      call.signal,
    )
  }
}

/** A call without an answer may have taken effect. */
async function uncertain<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof CallError && error.isUncertain) throw new UncertainError(error.message, { cause: error })
    throw error
  }
}

/** The external resource was deleted by us, under this name. */
const isGone = (record: StateRecord | undefined, externalName: string): boolean =>
  record !== undefined && record.state === undefined && record.externalName === externalName

/** A name that a user or an earlier create gave stays. */
function nameOf(calls: ResourceCalls, { value, identity }: CurrentState, call: AnyCall): string {
  const id = isMap(value) ? value['id'] : null
  if (typeof id === 'string' && !noId.has(id)) return id
  if (call.externalName !== '') return call.externalName
  if (identity && calls.identity) return keyOf(calls.identity.type, decodeValue(calls.identity.type, identity))
  return call.managed.metadata.name!
}

/** Objects that are deleted, and those that may only be observed, are not compared: they need no valid configuration. */
function isCompared({ metadata, ...object }: KubeObject): boolean {
  if (metadata.deletionTimestamp !== undefined) return false
  const { managementPolicies } = (object['spec'] ?? {}) as { managementPolicies?: readonly string[] }
  return managementPolicies === undefined || managementPolicies.some((policy) => policy !== 'Observe')
}

/** Paths that only initProvider sets: they were for the creation, and are left as they are (INI1). */
function initPaths(init: Values | undefined, forProvider: object, prefix = ''): readonly string[] {
  return Object.entries(init ?? {}).flatMap(([name, value]) => {
    const given = (forProvider as Values)[name]
    if (given === undefined) return [`${prefix}${name}`]
    return isObject(value) && isObject(given) ? initPaths(value, given, `${prefix}${name}.`) : []
  })
}
