import {
  apiVersionOf,
  ignoring,
  isAlreadyExists,
  isConflict,
  isNotFound,
  messageOf,
  type ObjectKey,
} from '@crosstie/kube'
import type { KindFailure, ManagedKind, Next, RuntimeHost } from '@crosstie/resources/provider'
import { type InstallSettings, installProvider, type Locked } from '../install/installer.js'
import { parseSource } from '../install/source.js'
import { parseConstraint, parseVersion } from '../install/version.js'
import type { ProviderPool } from '../process/pool.js'
import { InstalledKinds, selectTypes } from './activation.js'
import { needsNoConfiguration } from './configuration.js'
import { type ProviderStatus, type TerraformProvider, terraformProviderType } from './definition.js'
import { deleteDefinitions, kindTypes, objectsOf, removalOrder } from './in-use.js'
import { memoryText, said, writeStatus } from './status.js'

const FINALIZER = 'terraform.crosstie.io/in-use'
const POLL_SECONDS = 30
const DELETE_POLL_SECONDS = 2

export interface ReconcilerOptions {
  readonly host: RuntimeHost
  readonly pool: ProviderPool
  readonly settings: InstallSettings
}

/** Installs the providers that TerraformProvider objects name, and keeps their kinds served. */
export class ProviderReconciler {
  readonly #host: RuntimeHost
  readonly #pool: ProviderPool
  readonly #settings: InstallSettings
  /** By name of the TerraformProvider. */
  readonly #installed = new Map<string, InstalledKinds>()

  constructor({ host, pool, settings }: ReconcilerOptions) {
    this.#host = host
    this.#pool = pool
    this.#settings = settings
  }

  async reconcile({ name }: ObjectKey, signal: AbortSignal): Promise<Next> {
    const object = await this.#host.client
      .get<TerraformProvider>(terraformProviderType, { name }, { signal })
      .catch(ignoring(isNotFound))
    if (!object) {
      await this.stop(name)
      return { after: 'never' }
    }
    try {
      if (object.metadata.deletionTimestamp) return await this.#delete(object, signal)
      if (this.#reports(object)) await this.#keep(object, signal)
      return await this.#serve(object, signal)
    } catch (error) {
      signal.throwIfAborted()
      if (isConflict(error) || isNotFound(error)) return { after: 'backoff', progress: true }
      await this.#fail(object, messageOf(error), signal)
      return { after: 'backoff' }
    }
  }

  #reports({ metadata }: TerraformProvider): boolean {
    return this.#host.reportsOn(metadata.name)
  }

  async #serve(object: TerraformProvider, signal: AbortSignal): Promise<Next> {
    const name = object.metadata.name
    const installed = await this.#install(object)
    if (!installed) return { after: 'poll', seconds: DELETE_POLL_SECONDS }
    const patterns = object.spec.kinds ?? []
    const wanted = selectTypes(patterns, installed.available)
    const { active, retained, unused } = await this.#active(object, installed, wanted, signal)
    const kinds = await installed.kinds(active)
    const failures = await this.#host.setKinds(name, kinds)
    if (unused.length > 0 && this.#reports(object)) {
      await deleteDefinitions(this.#host.client, kindTypes(await installed.kinds(unused)), signal)
    }
    await this.#offerDefault(object, installed, kinds, signal)
    if (this.#reports(object)) {
      const unknown = patterns.filter((pattern) => selectTypes([pattern], installed.available).length === 0)
      await this.#report(object, installed, { kinds, failures, retained, unknown }, signal)
    }
    return failures.length > 0 ? { after: 'backoff' } : { after: 'poll', seconds: POLL_SECONDS }
  }

  /** Undefined while another process has to choose the version. */
  async #install(object: TerraformProvider): Promise<InstalledKinds | undefined> {
    const name = object.metadata.name
    const { source: text, version: constraint = '' } = object.spec
    const source = parseSource(text)
    const locked = lockedVersion(statusIn(object), constraint)
    const held = this.#installed.get(name)
    if (held && isAllowed(held.installed.version, constraint)) return held
    if (!locked && !this.#reports(object)) return undefined
    const installed = await installProvider(this.#settings, source, constraint, locked)
    const options = { name, prefix: source.type, pool: this.#pool, namespace: this.#host.namespace }
    const kinds = await InstalledKinds.read(options, installed)
    this.#installed.set(name, kinds)
    this.#host.log('installed a Terraform provider', { source: text, version: installed.version })
    return kinds
  }

  /** Types that are no longer wanted stay active while they have objects. */
  async #active(object: TerraformProvider, installed: InstalledKinds, wanted: readonly string[], signal: AbortSignal) {
    const { activeKinds = [] } = statusIn(object)
    const known = new Set(installed.available)
    const dropped = activeKinds.filter((type) => known.has(type) && !wanted.includes(type))
    const retained: string[] = []
    const unused: string[] = []
    for (const type of dropped) {
      const kinds = await installed.kinds([type])
      if ((await objectsOf(this.#host.client, kinds, signal)).length > 0) retained.push(type)
      else unused.push(type)
    }
    return { active: [...wanted, ...retained], retained, unused }
  }

  /** A provider that needs no configuration works without further steps. */
  async #offerDefault(
    object: TerraformProvider,
    { provider, providerConfig }: InstalledKinds,
    kinds: readonly ManagedKind[],
    signal: AbortSignal,
  ): Promise<void> {
    const { activeKinds = [] } = statusIn(object)
    if (activeKinds.length > 0 || kinds.length === 0 || !needsNoConfiguration(provider)) return
    const { type } = providerConfig
    const config = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { name: 'default' }, spec: {} }
    await this.#host.client.create(type, config, { signal }).catch(ignoring(isAlreadyExists))
  }

  async #report(
    object: TerraformProvider,
    installed: InstalledKinds,
    { kinds, failures, retained, unknown }: Served,
    signal: AbortSignal,
  ): Promise<void> {
    const owns = (key: string) => installed.owns(key)
    const { processes, memory } = await this.#pool.usage(owns)
    const failed = new Set(failures.map(({ kind }) => kind))
    const active = kinds.filter((kind) => !failed.has(kind)).flatMap((kind) => installed.typeOf(kind) ?? [])
    const problems = [
      ...failures.map(({ kind, message }) => `${kind.type.kind} is not served: ${message}`),
      ...unknown.map((pattern) => `spec.kinds names ${pattern}, and the provider has no such type`),
      ...this.#pool.problems(owns),
    ]
    const ready =
      problems.length === 0
        ? { ...said.served, message: servedText(active, retained) }
        : { ...said.unhealthy, message: problems.join('; ') }
    await writeStatus(
      this.#host.client,
      object,
      {
        version: installed.installed.version,
        checksum: installed.installed.checksum,
        availableKinds: installed.available,
        activeKinds: active,
        namespace: this.#host.namespace,
        processes,
        memory: memoryText(memory),
        conditions: [said.installed, ready],
      },
      signal,
    )
  }

  async #fail(object: TerraformProvider, message: string, signal: AbortSignal): Promise<void> {
    if (!this.#reports(object)) return
    const installed = this.#installed.has(object.metadata.name)
    const conditions = [...(installed ? [] : [{ ...said.notInstalled, message }]), { ...said.unhealthy, message }]
    await writeStatus(this.#host.client, object, { conditions }, signal)
    this.#host.events.event(object, 'Warning', said.unhealthy.reason, message)
  }

  async #keep(object: TerraformProvider, signal: AbortSignal): Promise<void> {
    const { finalizers = [] } = object.metadata
    if (!finalizers.includes(FINALIZER)) await this.#writeFinalizers(object, [...finalizers, FINALIZER], signal)
  }

  async #writeFinalizers(object: TerraformProvider, finalizers: readonly string[], signal: AbortSignal): Promise<void> {
    const metadata = { ...object.metadata, finalizers }
    await this.#host.client.update(terraformProviderType, { ...object, metadata }, { signal })
  }

  /** Waits for the objects of all kinds to be deleted, then removes the kinds and their definitions. */
  async #delete(object: TerraformProvider, signal: AbortSignal): Promise<Next> {
    const { finalizers = [], name } = object.metadata
    if (!this.#reports(object) || !finalizers.includes(FINALIZER)) return { after: 'poll', seconds: POLL_SECONDS }
    const kinds = await this.#servedKinds(object)
    const objects = await objectsOf(this.#host.client, kinds, signal)
    if (objects.length > 0) {
      const message = `the provider is removed when its objects are deleted. These exist: ${objects.join('; ')}`
      await writeStatus(this.#host.client, object, { conditions: [{ ...said.inUse, message }] }, signal)
      return { after: 'poll', seconds: DELETE_POLL_SECONDS }
    }
    // The controllers still run: an object that was created in this moment is deleted with its external resource.
    for (const types of removalOrder(kinds)) {
      const gone = await deleteDefinitions(this.#host.client, types, signal)
      if (!gone) return { after: 'poll', seconds: DELETE_POLL_SECONDS }
    }
    await this.stop(name)
    const others = finalizers.filter((each) => each !== FINALIZER)
    const newest = await this.#host.client.get<TerraformProvider>(terraformProviderType, { name }, { signal })
    await this.#writeFinalizers(newest, others, signal)
    return { after: 'never' }
  }

  /** The kinds that the status names; none when the provider was never installed. */
  async #servedKinds(object: TerraformProvider): Promise<readonly ManagedKind[]> {
    const { version, activeKinds = [] } = statusIn(object)
    if (version === undefined || activeKinds.length === 0) return []
    const installed = await this.#install(object)
    if (!installed) return []
    const kinds = await installed.kinds(activeKinds.filter((type) => installed.available.includes(type)))
    await this.#host.setKinds(object.metadata.name, kinds)
    return kinds
  }

  /** Stops the kinds of a TerraformProvider that no longer exists. */
  async stop(name: string): Promise<void> {
    this.#installed.delete(name)
    await this.#host.setKinds(name, [])
  }
}

const statusIn = ({ status }: TerraformProvider): ProviderStatus => status ?? {}

interface Served {
  readonly kinds: readonly ManagedKind[]
  readonly failures: readonly KindFailure[]
  readonly retained: readonly string[]
  readonly unknown: readonly string[]
}

/** The version of the status, if the constraint still allows it. */
function lockedVersion({ version, checksum }: ProviderStatus, constraint: string): Locked | undefined {
  if (version === undefined || checksum === undefined || !isAllowed(version, constraint)) return undefined
  return { version, checksum }
}

function isAllowed(version: string, constraint: string): boolean {
  const parsed = parseVersion(version)
  return parsed !== undefined && parseConstraint(constraint)(parsed)
}

function servedText(active: readonly string[], retained: readonly string[]): string {
  if (active.length === 0) return 'No kind is active: name resource types in spec.kinds, such as random_*'
  const kept = retained.length === 0 ? '' : `. These stay until their objects are deleted: ${retained.join(', ')}`
  return `${active.length} ${active.length === 1 ? 'kind is' : 'kinds are'} served${kept}`
}
