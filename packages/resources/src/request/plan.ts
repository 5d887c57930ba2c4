import {
  apiVersionOf,
  type Client,
  type Clock,
  groupKind,
  groupResource,
  ignoring,
  isNotFound,
  type KubeObject,
  notFound,
  type ObjectKey,
  parseApiVersion,
  type ResourceType,
  systemClock,
  timestamp,
} from '@crosstie/kube'
import type { Binding, ClaimKind } from '../definition/claim.js'
import type { ManagedKind } from '../definition/managed.js'
import type { Budgets } from '../external/budget.js'
import { type Promotion, promote } from '../import/promote.js'
import type { Features } from '../managed/runtime.js'
import { imagineClaim } from '../plan/claims.js'
import { type Plan, type PlannedResource, planOf } from '../plan/document.js'
import { Imagination } from '../plan/imagined.js'
import { failedPlan, plan, type Subject } from '../plan/plan.js'
import type { Surroundings } from '../providerconfig/use.js'
import { RequestError, type Rights } from './authorize.js'
import type { PlannedPromotion, PlanRequestSpec, PlanRequestStatus, RequestedObject } from './define.js'

/** The kinds that the control plane currently manages. */
export interface Catalog {
  readonly kinds: readonly ManagedKind[]
  readonly claims: readonly ClaimKind[]
  readonly bindings: readonly Binding[]
}

/** The dependencies of answers to PlanRequests. */
export interface PlanningOptions {
  readonly client: Client
  readonly catalog: Catalog
  readonly clock?: Clock
  readonly features?: Partial<Features>
  readonly surroundings?: Partial<Surroundings>
  /** The call budgets that the controllers of a kind use. */
  readonly budgetsFor?: (kind: ManagedKind) => Budgets | undefined
}

/**
 * Answers a PlanRequest. Reads objects, observes external resources and writes nothing.
 *
 * @throws RequestError if the requester lacks a permission that applying the same objects would require, or if the
 * request is invalid
 */
export async function answerPlanRequest(
  options: PlanningOptions,
  spec: PlanRequestSpec,
  rights: Rights,
  signal: AbortSignal,
): Promise<PlanRequestStatus> {
  const { objects = [], all = false } = spec
  if (all === objects.length > 0) {
    throw new RequestError('InvalidRequest', 'set exactly one of spec.all and spec.objects')
  }
  const planning = new Planning(options, rights, signal)
  for (const object of objects) await planning.add(object, spec.delete === true)
  if (all) await planning.addAll()
  if (spec.promote) return { promotions: await planning.promotions(spec.promote.policies) }
  const { apiVersion: _, kind: __, ...answer } = await planning.plan(spec.delete === true)
  return { plan: answer }
}

const PAGE_SIZE = 500

class Planning {
  readonly #world: Imagination
  readonly #subjects: Subject[] = []
  readonly #claims: { readonly kind: ClaimKind; readonly key: ObjectKey }[] = []
  readonly #failed: PlannedResource[] = []
  readonly #served = new Map<string, Promise<readonly ResourceType[]>>()

  constructor(
    private readonly options: PlanningOptions,
    private readonly rights: Rights,
    private readonly signal: AbortSignal,
  ) {
    this.#world = new Imagination(options.client, { impersonates: true })
  }

  /** Adds one object of the request. Throws RequestError if the requester may not perform the planned action on it. */
  async add(requested: RequestedObject, deleted: boolean): Promise<void> {
    const type = await this.#typeOf(requested)
    const key = keyOf(requested)
    const held = await this.options.client.get(type, key, { signal: this.signal }).catch(ignoring(isNotFound))
    await this.rights.require({ verb: verbFor(requested, held !== undefined, deleted), type, ...key })
    if (!held && !requested.manifest) throw notFound(type, key.name)
    const { kinds, claims } = this.options.catalog
    const kind = ofKind(kinds, type)
    const claim = ofKind(claims, type)
    if (requested.manifest) {
      checkIdentity(requested)
      this.#world.imagine(type, kind ? inControllerVersion(kind, requested.manifest) : requested.manifest)
    }
    const { change: object } = requested
    if (kind) this.#subjects.push({ kind, key, ...(object ? { object } : {}) })
    else if (claim) this.#claims.push({ kind: claim, key })
    else if (!requested.manifest) this.#failed.push(failedPlan({ type }, key, unmanaged(type)))
    else if (looksManaged(requested.manifest)) this.#failed.push(failedPlan({ type }, key, unmanaged(type)))
  }

  async addAll(): Promise<void> {
    for (const kind of this.options.catalog.kinds) {
      await this.rights.require({ verb: 'list', type: kind.type })
      let token: string | undefined
      do {
        const page = { limit: PAGE_SIZE, ...(token ? { continue: token } : {}), signal: this.signal }
        const { items, metadata } = await this.options.client.list(kind.type, page)
        this.#subjects.push(...items.map((object) => ({ kind, key: keyOf(object.metadata) })))
        token = metadata.continue
      } while (token)
    }
  }

  async plan(deleted: boolean): Promise<Plan> {
    const { catalog, budgetsFor, client: _, ...rest } = this.options
    const world = this.#world
    const claims = { world, bindings: catalog.bindings, ...(rest.clock ? { clock: rest.clock } : {}) }
    const met = []
    for (const { kind, key } of this.#claims) met.push(await imagineClaim(claims, kind, key, this.signal))
    const subjects = distinctSubjects([...this.#subjects, ...met.flatMap((claim) => claim.subjects)])
    if (deleted) await this.#delete(subjects)
    const { resources } = await plan({ ...rest, world, ...(budgetsFor ? { budgetsFor } : {}) }, subjects, this.signal)
    const shown = await Promise.all(resources.map((resource, i) => this.#visible(resource, subjects[i]?.kind.type)))
    return planOf(
      [...shown, ...this.#failed],
      met.map(({ claim }) => claim),
    )
  }

  async promotions(policies: readonly string[]): Promise<readonly PlannedPromotion[]> {
    const { client, clock, surroundings, budgetsFor } = this.options
    const more = { ...(clock ? { clock } : {}), ...(surroundings ? { surroundings } : {}) }
    const results: PlannedPromotion[] = []
    for (const { kind, key } of this.#subjects) {
      const budgets = budgetsFor?.(kind)
      const options = { client, policies, dryRun: true, impersonates: true, ...more, ...(budgets ? { budgets } : {}) }
      results.push(promotionOf(await promote(options, { kind, name: key.name }, this.signal)))
    }
    const failed = this.#failed.map(({ apiVersion, kind, name, because }) => ({
      ...{ apiVersion, kind, name, because },
      outcome: 'refused' as const,
      changes: [],
    }))
    return [...results, ...failed]
  }

  async #delete(subjects: readonly Subject[]): Promise<void> {
    const now = timestamp((this.options.clock ?? systemClock).now())
    for (const { kind, key } of subjects) {
      const object = await this.#world.find(kind.type, key)
      if (object) this.#world.imagineDeleted(kind.type, object, now)
    }
  }

  /**
   * Returns the resource without its fields if the requester may not read it, since they may contain values of a
   * class.
   */
  async #visible(resource: PlannedResource, type: ResourceType | undefined): Promise<PlannedResource> {
    if (!type) return resource
    const mayRead =
      (await this.rights.allows({ verb: 'get', type })) ||
      (await this.rights.allows({ verb: 'get', type, name: resource.name }))
    if (mayRead) return resource
    const { externalName: _, digest: __, steps, because, ...rest } = resource
    return {
      ...rest,
      because: rest.outcome === 'error' ? because : '',
      steps: steps.map(({ action }) => ({ action, fields: [] })),
      suppressed: [],
      hidden: true,
    }
  }

  async #typeOf(requested: RequestedObject): Promise<ResourceType> {
    const parsed = parseApiVersion(requested.apiVersion)
    if (!parsed) throw new RequestError('InvalidRequest', `'${requested.apiVersion}' is not an apiVersion`)
    const { kinds, claims } = this.options.catalog
    const group = `${requested.kind}.${parsed.group}`
    const known = [...kinds, ...claims].find(({ type }) => `${type.kind}.${type.group}` === group)
    if (known) return known.type
    let served = this.#served.get(requested.apiVersion)
    if (!served) {
      served = this.options.client.discover(parsed, { signal: this.signal })
      this.#served.set(requested.apiVersion, served)
    }
    const found = (await served).find(({ kind }) => kind === requested.kind)
    if (found) return found
    throw new RequestError('InvalidRequest', `the server has no ${requested.kind} of ${requested.apiVersion}`)
  }
}

/** Returns the verb that the requester needs for the planned action. */
function verbFor({ manifest }: RequestedObject, exists: boolean, deleted: boolean): string {
  if (deleted) return 'delete'
  if (!manifest) return 'get'
  return exists ? 'patch' : 'create'
}

/** Verifies that the manifest is of the object whose permissions were checked. */
function checkIdentity({ apiVersion, kind, name, namespace, manifest }: RequestedObject): void {
  const { metadata } = manifest ?? {}
  const same =
    manifest?.apiVersion === apiVersion &&
    manifest.kind === kind &&
    metadata?.name === name &&
    (metadata?.namespace ?? '') === (namespace ?? '')
  if (!same) throw new RequestError('InvalidRequest', `the manifest of ${kind} ${name} is of another object`)
}

function ofKind<K extends { readonly type: ResourceType }>(kinds: readonly K[], type: ResourceType): K | undefined {
  return kinds.find((kind) => groupKind(kind.type) === groupKind(type))
}

const looksManaged = ({ spec }: KubeObject & { readonly spec?: unknown }): boolean =>
  typeof spec === 'object' && spec !== null && 'forProvider' in spec

const unmanaged = ({ kind, group }: ResourceType): string =>
  `no provider of this control plane manages ${kind} (${group || 'core'}): start it with the provider in --providers`

/** Returns an object in the version that the controllers of its kind use. */
export function inControllerVersion(kind: ManagedKind, object: KubeObject): KubeObject {
  const apiVersion = apiVersionOf(kind.type)
  if (object.apiVersion === apiVersion) return object
  return kind.convert ? kind.convert(object, kind.type.version) : { ...object, apiVersion }
}

/** Returns each object once, at its first position. */
export function distinctSubjects(subjects: readonly Subject[]): readonly Subject[] {
  const seen = new Set<string>()
  return subjects.filter(({ kind, key }) => {
    const name = `${groupResource(kind.type)}/${key.namespace ?? ''}/${key.name}`
    return !seen.has(name) && seen.add(name)
  })
}

function promotionOf({ kind, name, object: _, ...result }: Promotion): PlannedPromotion {
  return { apiVersion: apiVersionOf(kind.type), kind: kind.type.kind, name, ...result }
}

const keyOf = ({ name = '', namespace }: { readonly name?: string; readonly namespace?: string }): ObjectKey => ({
  name,
  ...(namespace ? { namespace } : {}),
})
