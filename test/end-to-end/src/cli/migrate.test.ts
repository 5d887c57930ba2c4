import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type KubeObject, systemClock } from '@crosstie/kube'
import { migrateLive } from '@crosstie/resources'
import { SimulatedCloud, thingOf } from '@crosstie/resources/testing'
import { startRealKubernetes } from '../support/oracle.js'
import { condition, Plane } from '../support/plane.js'
import { Program } from '../support/program.js'

const allButDelete = ['Create', 'Update', 'Observe', 'LateInitialize']

/** The migration table of the design, row by row, with the operations that each row permits. */
const rows: readonly {
  readonly policy: string
  readonly deletionPolicy: string
  readonly want: readonly string[]
  readonly creates: boolean
  readonly deletes: boolean
}[] = [
  { policy: 'FullControl', deletionPolicy: 'Delete', want: ['*'], creates: true, deletes: true },
  { policy: 'FullControl', deletionPolicy: 'Orphan', want: allButDelete, creates: true, deletes: false },
  { policy: 'OrphanOnDelete', deletionPolicy: 'Delete', want: allButDelete, creates: true, deletes: false },
  { policy: 'OrphanOnDelete', deletionPolicy: 'Orphan', want: allButDelete, creates: true, deletes: false },
  { policy: 'ObserveOnly', deletionPolicy: 'Delete', want: ['Observe'], creates: false, deletes: false },
  { policy: 'ObserveOnly', deletionPolicy: 'Orphan', want: ['Observe'], creates: false, deletes: false },
]

interface Policies {
  readonly managementPolicies?: unknown
  readonly managementPolicy?: string
  readonly deletionPolicy?: string
}

const specOf = (object: KubeObject): Policies => object['spec'] as Policies

/** A managed kind of an old version, whose only field holds the old values. */
const oldType = { group: 'old.crosstie.io', version: 'v1', kind: 'Old', resource: 'olds', namespaced: false }
const oldCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'olds.old.crosstie.io' },
  spec: {
    group: oldType.group,
    scope: 'Cluster',
    names: { kind: 'Old', plural: 'olds', singular: 'old', listKind: 'OldList', categories: ['managed'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        },
      },
    ],
  },
}

/** Tests that run on every Kubernetes API. */
function migration(open: () => Promise<Plane>): void {
  let plane: Plane
  const cloud = new SimulatedCloud({
    naming: 'user-chosen',
    tags: true,
    tokens: false,
    list: false,
    clock: systemClock,
  })
  const thing = thingOf(cloud, { consistencySeconds: 0 })

  before(async () => {
    plane = await open()
    await plane.serve(thing)
    await plane.define(oldCrd)
  })
  after(async () => {
    await plane?.[Symbol.asyncDispose]()
  })

  const migrate = async (name: string, dryRun = false) =>
    (await migrateLive({ client: plane.client, dryRun })).find((done) => done.name === name)
  const there = (name: string) => cloud.resources.some((resource) => resource.name === name)

  for (const { policy, deletionPolicy, want, creates, deletes } of rows) {
    test(`POL7 ${policy} with ${deletionPolicy} becomes ${want}, and goes on as before`, async () => {
      const name = `${policy}-${deletionPolicy}`.toLowerCase()
      const forProvider = { region: 'r', flavor: 'sweet' }
      await plane.create(thing, name, { managementPolicy: policy, deletionPolicy, forProvider })
      await plane.settle(thing, name)
      assert.equal(there(name), creates, 'the old words hold before')
      if (!creates) await cloud.create({ name, region: 'r', values: forProvider, tags: {}, token: '' })
      const before = await plane.settle(thing, name)

      const planned = await migrate(name, true)
      assert.deepEqual([planned?.after, planned?.outcome], [want, 'planned'])
      const untouched = await plane.client.get(thing.type, { name })
      assert.equal(untouched.metadata.resourceVersion, before.metadata.resourceVersion, 'a dry run writes nothing')

      const done = await migrate(name)
      assert.deepEqual([done?.after, done?.outcome, done?.error], [want, 'migrated', undefined])
      const calls = { ...cloud.calls }
      const migrated = await plane.settle(thing, name)
      const spec = specOf(migrated)
      assert.deepEqual([spec.managementPolicies, spec.managementPolicy], [want, undefined])
      assert.equal(spec.deletionPolicy, 'Delete', 'only its default is left, which says nothing')
      assert.equal(migrated.metadata.annotations?.['crossplane.io/paused'], undefined)
      assert.equal(migrated.metadata.annotations?.['crosstie.io/migrating'], undefined)
      assert.equal(condition(migrated, 'Synced')?.status, 'True')
      const { create, update, delete: deleted } = cloud.calls
      assert.deepEqual([create, update, deleted], [calls.create, calls.update, calls.delete], 'nothing outside changed')
      assert.equal(await migrate(name), undefined, 'once is enough')

      await plane.client.delete(thing.type, { name })
      await plane.reconcile(thing, name)
      await plane.reconcile(thing, name)
      assert.equal(there(name), !deletes)
    })

    test(`POL7 ${policy} with ${deletionPolicy} in the older spelling of the field`, async () => {
      const name = `old-${policy}-${deletionPolicy}`.toLowerCase()
      const spec = { managementPolicies: policy, deletionPolicy }
      await plane.client.create(oldType, { apiVersion: 'old.crosstie.io/v1', kind: 'Old', metadata: { name }, spec })
      assert.deepEqual((await migrate(name))?.after, want)
      const object = await plane.client.get(oldType, { name })
      assert.deepEqual(object['spec'], { managementPolicies: want })
      assert.equal(await migrate(name), undefined)
    })
  }

  test('POL7 who was paused stays paused', async () => {
    const forProvider = { region: 'r', flavor: 'sweet' }
    const annotations = { 'crossplane.io/paused': 'true' }
    await plane.create(thing, 'resting', { managementPolicy: 'ObserveOnly', forProvider }, { annotations })
    await migrate('resting')
    const object = await plane.client.get(thing.type, { name: 'resting' })
    assert.equal(object.metadata.annotations?.['crossplane.io/paused'], 'true')
    assert.deepEqual(specOf(object).managementPolicies, ['Observe'])
  })
}

describe('migration on the embedded server', () => migration(() => Plane.embedded()))

describe('crosstie migrate', () => {
  let program: Program
  before(async () => {
    program = await Program.up('--providers', 'nop')
  })
  after(async () => {
    await program?.[Symbol.asyncDispose]()
  })

  const nop = (name: string, spec: string) =>
    `apiVersion: nop.crossplane.io/v1alpha1\nkind: NopResource\nmetadata:\n  name: ${name}\nspec:\n${spec}  forProvider:\n    size: 1\n`

  test('POL7 live objects: told first, done with --yes, and then there is nothing left', async () => {
    const manifests = join(program.folder, 'old.yaml')
    const old = [
      nop('looks', '  managementPolicy: ObserveOnly\n'),
      nop('stays', '  deletionPolicy: Orphan\n'),
      nop('new', ''),
    ]
    await writeFile(manifests, old.join('---\n'))
    await program.ok('apply', '-f', manifests)
    const told = await program.ok('migrate')
    assert.match(told, /^nopresource.nop.crossplane.io\/looks +ObserveOnly, Delete +\[Observe\] +planned$/m)
    assert.match(told, /stays +\[\*\], Orphan +\[Create Update Observe LateInitialize\] +planned/)
    assert.match(told, /2 would be migrated. Run 'crosstie migrate --yes' to do it./)
    const done = JSON.parse(await program.ok('migrate', '--yes', '-o', 'json'))
    assert.equal(done.dryRun, false)
    assert.deepEqual(
      done.objects.map(({ name, outcome }: { name: string; outcome: string }) => `${name} ${outcome}`).sort(),
      ['looks migrated', 'stays migrated'],
    )
    assert.match(await program.ok('migrate', '--yes'), /All objects have managementPolicies\./)
  })

  test('POL7 files: told first, rewritten with --yes, and what is unclear is named', async () => {
    const file = join(program.folder, 'file.yaml')
    const before = nop('a', '  managementPolicy: FullControl # all of it\n  deletionPolicy: Orphan\n')
    await writeFile(file, before)
    assert.match(await program.ok('migrate', file), /file.yaml: 1 would be migrated/)
    assert.equal(await readFile(file, 'utf8'), before)
    await program.ok('migrate', '--yes', file)
    const policies = '  managementPolicies: ["Create", "Update", "Observe", "LateInitialize"] # all of it\n'
    assert.equal(await readFile(file, 'utf8'), nop('a', policies))
    await writeFile(file, 'kind: X\nspec: {managementPolicy: ObserveOnly}\n')
    const { code, err } = await program.run(['migrate', file])
    assert.equal(code, 1)
    assert.match(err, /file.yaml:2: an old policy in a form that must be changed by hand/)
  })
})

const real = await startRealKubernetes()
const skip = typeof real === 'string' ? real : false

describe('migration on the real kube-apiserver', { skip }, () => {
  after(async () => {
    if (typeof real !== 'string') await real[Symbol.asyncDispose]()
  })
  migration(() => Plane.remote(typeof real === 'string' ? '' : real.kubeconfig))
})
