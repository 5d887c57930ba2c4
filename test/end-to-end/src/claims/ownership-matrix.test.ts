import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { apiVersionOf, type Client, type KubeObject, type ResourceType } from '@crosstie/kube'
import { claimKinds, type ManagedKind, operatorRoles } from '@crosstie/resources'
import { bucket, defineBinding } from '@crosstie/resources/provider'
import { type CloudResource, thingOf } from '@crosstie/resources/testing'
import { eventually, World } from '../support/claims-world.js'
import { condition } from '../support/plane.js'
import { specOf } from './kinds.js'
import { WatchedCloud } from './watched-cloud.js'

/**
 * The external calls that a claim may cause (XN3, CLM7), for every combination of cloud capabilities, class
 * settings and claimed name. A tenant causes no call that changes a resource which the claim did not create, unless
 * the class permits adoption.
 */

const NAME = 'crossplane.io/external-name'
const PREFIX = 'r1-'
const PATIENCE_MS = 300_000

const clouds = [
  { naming: 'user-chosen', tags: true },
  { naming: 'user-chosen', tags: false },
  { naming: 'provider-assigned', tags: true },
  { naming: 'provider-assigned', tags: false },
] as const
const policies = [['*'], ['Observe', 'Create', 'Update'], ['Observe']] as const
const adoptions = [undefined, 'Deny', 'Allow', 'AllowAndDelete'] as const
const reclaims = ['Delete', 'Retain'] as const
const prefixes = ['', PREFIX] as const
/** The target of the annotation: none, or a resource and its owner. */
const names = ['none', 'free', 'unmanaged', 'claimed', 'operated', 'forbidden'] as const

interface ClassSettings {
  readonly managementPolicies: (typeof policies)[number]
  readonly adoptionPolicy: (typeof adoptions)[number]
  readonly reclaimPolicy: (typeof reclaims)[number]
  readonly prefix: (typeof prefixes)[number]
}

/** A kind, and the resources of other owners in its cloud. */
interface Land {
  readonly cloud: WatchedCloud
  readonly kind: ManagedKind
  /** The external names of resources that other objects manage. */
  readonly others: Record<'claimed' | 'operated', string>
  /** Names that the cloud reserves. */
  readonly forbidden: Set<string>
}

interface Cell extends ClassSettings {
  readonly id: string
  readonly land: Land
  readonly named: (typeof names)[number]
  readonly className: string
  /** The external name that the claim requests. Empty without an annotation. */
  readonly externalName: string
}

type Outcome = 'own' | 'adopted' | 'observed' | 'absent' | 'taken' | 'forbidden'

/** The expected outcome, stated independently of the implementation. */
function expected({ named, managementPolicies, adoptionPolicy }: Cell): Outcome {
  const onlyObserves = managementPolicies[0] === 'Observe' && managementPolicies.length === 1
  if (named === 'forbidden') return 'forbidden'
  if (named === 'claimed' || named === 'operated') return 'taken'
  if (named !== 'unmanaged') return onlyObserves ? 'absent' : 'own'
  if (adoptionPolicy !== 'Allow' && adoptionPolicy !== 'AllowAndDelete') return 'taken'
  return onlyObserves ? 'observed' : 'adopted'
}

/** Reports whether the external resource is deleted with the claim. */
function goesWithClaim(cell: Cell): boolean {
  const mayDelete = cell.reclaimPolicy === 'Delete' && (cell.managementPolicies[0] as string) === '*'
  const outcome = expected(cell)
  return mayDelete && (outcome === 'own' || (outcome === 'adopted' && cell.adoptionPolicy === 'AllowAndDelete'))
}

const secretType: ResourceType = { group: '', version: 'v1', kind: 'Secret', resource: 'secrets', namespaced: true }
const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' }
const roleType: ResourceType = { ...rbac, kind: 'ClusterRole', resource: 'clusterroles', namespaced: false }
const roleBindingType: ResourceType = { ...rbac, kind: 'RoleBinding', resource: 'rolebindings', namespaced: true }

const lands = clouds.map((offered): Land => {
  const cloud = new WatchedCloud({ ...offered, tokens: false, list: true })
  const others = { claimed: '', operated: '' }
  const forbidden = new Set<string>()
  const kind = thingOf(cloud, {
    kind: `${offered.naming === 'user-chosen' ? 'Chosen' : 'Assigned'}${offered.tags ? 'Tagged' : 'Plain'}`,
  })
  const forbiddenName = ({ externalName }: { externalName: string }) =>
    forbidden.has(externalName) ? 'the cloud needs it for itself' : undefined
  return { cloud, others, forbidden, kind: { ...kind, forbiddenName } }
})

/** The fields that the class sets, and those of existing resources. */
const wanted = { region: 'r1', flavor: 'sweet', size: 5 }
const theirs = { flavor: 'sour', size: 9 }

describe('who may cause which external call', { timeout: 900_000 }, () => {
  const started = process.cpuUsage()
  let world: World
  let tenant: Client
  let cells: readonly Cell[]
  const untouched = new Map<Cell, CloudResource | undefined>()

  before(async () => {
    world = await World.embedded({
      bindings: lands.map(({ kind }) => defineBinding({ claim: bucket, managed: kind })),
      managed: lands.map(({ kind }) => kind),
      pollSeconds: 3600,
    })
    world.start()
    for (const role of operatorRoles(
      claimKinds,
      lands.map(({ kind }) => kind),
    ))
      await world.client.create(roleType, role)
    for (const namespace of ['team-a', 'team-b']) await bindOperator(world.client, namespace)
    tenant = world.client.as('operator-of-team-a')
    await eventually('the tenant has the role', async () =>
      tenant.list(bucket.type, { namespace: 'team-a' }).then(Boolean, () => false),
    )
    for (const land of lands) await populate(world, land)
    cells = await cellsOf(world)
    for (const cell of cells) untouched.set(cell, structuredClone(cell.land.cloud.find(cell.externalName)))
    for (const { cloud } of lands) cloud.writes.length = 0
  })
  after(() => world[Symbol.asyncDispose]())

  test('XN3 CLM7 each claim gets what the class permits, and nothing else is changed', async () => {
    for (const cell of cells) await tenant.create(bucket.type, claimOf(cell))
    const reached = await reachedBy(world, cells)
    const secrets = new Set((await world.client.list(secretType, { namespace: 'team-a' })).items.map(nameOf))
    for (const cell of cells) {
      const { claim, managed, outcome } = reached.get(cell)!
      const where = describeCell(cell)
      assert.equal(outcome, expected(cell), `${where} ${JSON.stringify(claim['status'])}`)
      if (outcome === 'taken' || outcome === 'forbidden') {
        const said = JSON.stringify(claim['status'])
        assert.ok(!/team-b|operators-own/.test(said), `${where}: names an object of others: ${said}`)
        assert.ok(!secrets.has(cell.id), `${where}: has connection details`)
      }
      assertUntouched(cell, untouched.get(cell), where)
      if (outcome === 'own') assert.ok(cell.land.cloud.find(externalNameOf(managed)), `${where}: has no resource`)
    }
  })

  test('XN3 CLM7 deleting the claims deletes what they created, and nothing else', async () => {
    const managed = await managedByClaim(world)
    await tenant.deleteCollection(bucket.type, { namespace: 'team-a' })
    const left = async () => (await world.client.list(bucket.type, { namespace: 'team-a' })).items.length
    await occasionally('the claims are gone', async () => (await left()) === 0)
    await occasionally('the managed resources that go with a claim are gone', () => onlyRetained(world, cells))
    for (const cell of cells) {
      const where = describeCell(cell)
      const name = expected(cell) === 'own' ? externalNameOf(managed.get(cell.id)) : cell.externalName
      if (name !== '' && expected(cell) !== 'absent')
        assert.equal(cell.land.cloud.find(name) === undefined, goesWithClaim(cell), `${where}: ${name}`)
      assertUntouched(cell, untouched.get(cell), where)
    }
    for (const { cloud, others } of lands)
      for (const [whose, name] of Object.entries(others)) {
        assert.deepEqual(cloud.writesTo(name), [], `${whose} ${name}`)
        assert.ok(cloud.find(name), `${whose} ${name} is there`)
      }
    const { user, system } = process.cpuUsage(started)
    console.log(`# ${cells.length} combinations, ${((user + system) / 1e6).toFixed(1)} s of CPU time`)
  })

  /** Asserts that no changing call names a resource of other owners, unless the class permits adoption. */
  function assertUntouched(cell: Cell, before: CloudResource | undefined, where: string): void {
    const { cloud } = cell.land
    const outcome = expected(cell)
    if (outcome === 'own') return
    const allowed = outcome === 'adopted' ? ['update', ...(goesWithClaim(cell) ? ['delete'] : [])] : []
    const calls = cloud.writesTo(cell.externalName)
    assert.deepEqual(
      calls.filter((call) => !allowed.includes(call)),
      [],
      where,
    )
    if (outcome !== 'adopted' && cell.externalName !== '')
      assert.deepEqual(cloud.find(cell.externalName), before, `${where}: the resource changed`)
  }
})

/** Creates the resources of other owners: one by a claim of another tenant, and one by an operator. */
async function populate(world: World, { cloud, kind, others }: Land): Promise<void> {
  const { client } = world
  const name = `plain-${kind.type.resource}`
  await client.create(kind.classType, classOf(kind, name, { prefix: '' }))
  const chosen = cloud.options.naming === 'user-chosen'
  const neighbour = client.as('operator-of-team-b')
  const claimed = { name: kind.type.resource, namespace: 'team-b' }
  await neighbour.create(bucket.type, {
    apiVersion: apiVersionOf(bucket.type),
    kind: 'Bucket',
    metadata: { ...claimed, ...(chosen ? { annotations: { [NAME]: `${PREFIX}claimed` } } : {}) },
    spec: { classRef: { apiVersion: apiVersionOf(kind.classType), kind: kind.classType.kind, name } },
  })
  await client.create(kind.type, {
    apiVersion: apiVersionOf(kind.type),
    kind: kind.type.kind,
    metadata: { name: 'operators-own', ...(chosen ? { annotations: { [NAME]: `${PREFIX}operated` } } : {}) },
    spec: { forProvider: wanted },
  })
  const named = (object: KubeObject | undefined) => {
    const ready = object && condition(object, 'Ready')?.status === 'True'
    return ready ? externalNameOf(object) : undefined
  }
  others.operated = await eventually('the operator has a resource', async () =>
    named(await world.find(kind.type, 'operators-own')),
  )
  others.claimed = await eventually('the neighbor has a resource', async () => {
    const claim = await world.find(bucket.type, claimed.name, claimed.namespace)
    const { resourceRef } = specOf(claim!)
    return resourceRef && named(await world.find(kind.type, resourceRef.name))
  })
}

/** Returns every combination, with a class for each group of settings. */
async function cellsOf(world: World): Promise<readonly Cell[]> {
  const cells: Cell[] = []
  for (const land of lands)
    for (const settings of classSettings()) {
      const className = `class-${cells.length}`
      await world.client.create(land.kind.classType, classOf(land.kind, className, settings))
      for (const named of names) {
        const id = `${land.kind.type.resource}-${cells.length}`
        const externalName = await externalNameFor(land, named, id)
        cells.push({ ...settings, id, land, named, className, externalName })
      }
    }
  assert.equal(
    cells.length,
    clouds.length * policies.length * adoptions.length * reclaims.length * prefixes.length * names.length,
  )
  return cells
}

function classSettings(): readonly ClassSettings[] {
  return policies.flatMap((managementPolicies) =>
    adoptions.flatMap((adoptionPolicy) =>
      reclaims.flatMap((reclaimPolicy) =>
        prefixes.map((prefix) => ({ managementPolicies, adoptionPolicy, reclaimPolicy, prefix })),
      ),
    ),
  )
}

/** Returns the external name for a claim. Each claim for an unmanaged resource gets a separate resource. */
async function externalNameFor({ cloud, others, forbidden }: Land, named: Cell['named'], id: string): Promise<string> {
  if (named === 'none') return ''
  if (named === 'free') return `${PREFIX}free-${id}`
  if (named === 'claimed' || named === 'operated') return others[named]
  const name = `${PREFIX}${id}`
  const created = await cloud.create({ name, region: 'r1', values: theirs, tags: {}, token: id })
  if (named === 'forbidden') forbidden.add(created.name)
  return created.name
}

function classOf(kind: ManagedKind, name: string, { prefix, ...template }: Partial<ClassSettings>): KubeObject {
  return {
    apiVersion: apiVersionOf(kind.classType),
    kind: kind.classType.kind,
    metadata: { name, ...(prefix ? { annotations: { 'crossplane.io/external-name-prefix': prefix } } : {}) },
    specTemplate: {
      ...JSON.parse(JSON.stringify(template)),
      forProvider: wanted,
      writeConnectionSecretsToNamespace: 'crossplane-system',
    },
  }
}

function claimOf({ id, land, className, externalName, prefix }: Cell): KubeObject {
  const { classType } = land.kind
  const annotations = externalName === '' ? {} : { annotations: { [NAME]: externalName.slice(prefix.length) } }
  return {
    apiVersion: apiVersionOf(bucket.type),
    kind: 'Bucket',
    metadata: { name: id, namespace: 'team-a', ...annotations },
    spec: {
      classRef: { apiVersion: apiVersionOf(classType), kind: classType.kind, name: className },
      writeConnectionSecretToRef: { name: id },
    },
  }
}

interface Reached {
  readonly claim: KubeObject
  readonly managed: KubeObject | undefined
  readonly outcome: Outcome
}

/** Waits until every claim has an outcome. */
async function reachedBy(world: World, cells: readonly Cell[]): Promise<Map<Cell, Reached>> {
  const reached = new Map<Cell, Reached>()
  const open = () => cells.filter((cell) => !reached.has(cell))
  const look = async () => {
    const { items } = await world.client.list(bucket.type, { namespace: 'team-a' })
    const claims = new Map(items.map((claim) => [nameOf(claim), claim]))
    const managed = await managedByClaim(world)
    for (const cell of open()) {
      const claim = claims.get(cell.id)
      const object = managed.get(cell.id)
      const outcome = claim && outcomeOf(claim, object)
      if (outcome) reached.set(cell, { claim, managed: object, outcome })
    }
    return open().length === 0
  }
  await occasionally('every claim has an outcome', look).catch((error) => {
    throw new Error(`${error}: ${open().map(describeCell).slice(0, 5)} and others, ${open().length} in all`)
  })
  return reached
}

/** Polls conditions over all claims, which are too expensive to read every 25 ms. */
async function occasionally(what: string, look: () => Promise<boolean>): Promise<void> {
  const patiently = async () => (await look()) || new Promise<false>((resolve) => setTimeout(resolve, 500, false))
  await eventually(what, patiently, PATIENCE_MS)
}

/** Returns the managed resources of the tenant by the name of the claim. */
async function managedByClaim(world: World): Promise<ReadonlyMap<string, KubeObject>> {
  const all = await Promise.all(lands.map(({ kind }) => world.list(kind.type, `${CLAIM_NAMESPACE}=team-a`)))
  return new Map(all.flat().map((object) => [object.metadata.labels?.[CLAIM_NAME] ?? '', object]))
}

function outcomeOf(claim: KubeObject, managed: KubeObject | undefined): Outcome | undefined {
  const ready = condition(claim, 'Ready')
  if (ready?.reason === 'ExternalNameTaken') return 'taken'
  if (ready?.reason === 'ExternalNameForbidden') return 'forbidden'
  const synced = managed && condition(managed, 'Synced')
  if (synced?.reason === 'ReconcileError' && /does not exist/.test(synced.message ?? '')) return 'absent'
  if (!managed || ready?.status !== 'True') return undefined
  const { annotations = {} } = managed.metadata
  if (annotations['crossplane.io/external-create-succeeded']) return 'own'
  return specOf(managed).managementPolicies.includes('Observe') && specOf(managed).managementPolicies.length === 1
    ? 'observed'
    : 'adopted'
}

/** Reports whether managed resources of the tenant remain only where the class retains them. */
async function onlyRetained(world: World, cells: readonly Cell[]): Promise<boolean> {
  const managed = await managedByClaim(world)
  return cells.every(({ id, reclaimPolicy }) => reclaimPolicy === 'Retain' || !managed.has(id))
}

const CLAIM_NAME = 'resourceclaim.crossplane.io/name'
const CLAIM_NAMESPACE = 'resourceclaim.crossplane.io/namespace'

const nameOf = ({ metadata }: KubeObject) => metadata.name ?? ''
const externalNameOf = (object: KubeObject | undefined) => object?.metadata.annotations?.[NAME] ?? ''
function describeCell({ land, named, managementPolicies, adoptionPolicy, reclaimPolicy, prefix, id }: Cell): string {
  return JSON.stringify({
    id,
    kind: land.kind.type.kind,
    named,
    managementPolicies,
    adoptionPolicy,
    reclaimPolicy,
    prefix,
  })
}

async function bindOperator(client: Client, namespace: string): Promise<void> {
  await client.create(roleBindingType, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'operator', namespace },
    roleRef: { apiGroup: rbac.group, kind: 'ClusterRole', name: 'crosstie:application-operator' },
    subjects: [{ apiGroup: rbac.group, kind: 'User', name: `operator-of-${namespace}` }],
  })
}
