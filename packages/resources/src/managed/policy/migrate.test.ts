import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeApi } from '../../testing/fakeapi.js'
import { migrateLive, migrateManifest } from './migrate.js'

const manifest = `# A database that we only look at.
apiVersion: sql.gcp.example.org/v1beta1
kind: DatabaseInstance
metadata:
  name: existing
spec:
  managementPolicy: ObserveOnly # for now
  deletionPolicy: Delete
  forProvider:
    region: us-central1 # kept
---
kind: VPC
spec:
    managementPolicies: "FullControl"
    deletionPolicy: Orphan
---
kind: Other
spec: {managementPolicy: ObserveOnly}
---
kind: Fine
spec:
  managementPolicies: ["Observe"]
  deletionPolicy: Orphan
`

test('POL7 manifests are migrated in place, comments and all, and what is unclear is named', () => {
  const { text, changed, unclear } = migrateManifest(manifest)
  assert.equal(changed, 2)
  assert.deepEqual(unclear, [18])
  assert.match(
    text,
    /^ {2}managementPolicies: \["Observe"\] # for now\n {2}forProvider:\n {4}region: us-central1 # kept$/m,
  )
  assert.match(text, /^ {4}managementPolicies: \["Create", "Update", "Observe", "LateInitialize"\]\n---$/m)
  assert.match(text, /kind: Fine\nspec:\n {2}managementPolicies: \["Observe"\]\n {2}deletionPolicy: Orphan\n$/)
  assert.equal(migrateManifest(text).changed, 0, 'once is enough')
})

const crds = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  resource: 'customresourcedefinitions',
  namespaced: false,
}
const vpcs = { group: 'ec2.example.org', version: 'v1', kind: 'VPC', resource: 'vpcs', namespaced: false }

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: crds.kind,
  metadata: { name: 'vpcs.ec2.example.org' },
  spec: {
    group: vpcs.group,
    scope: 'Cluster',
    names: { kind: 'VPC', plural: 'vpcs', categories: ['managed'] },
    versions: [{ name: 'v1', storage: true }],
  },
}
const vpc = (name: string, spec: object) => ({
  apiVersion: 'ec2.example.org/v1',
  kind: 'VPC',
  metadata: { name },
  spec,
})

test('POL7 live objects are paused, migrated and resumed; a dry run only tells', async () => {
  const seen: string[] = []
  const api = new FakeApi({
    before: ({ verb, after }) => {
      if (verb === 'patch')
        seen.push(`${after?.metadata.annotations?.['crossplane.io/paused'] ?? '-'} ${JSON.stringify(after?.['spec'])}`)
    },
  })
  await api.create(crds, definition)
  await api.create(
    vpcs,
    vpc('old', { managementPolicies: ['*'], managementPolicy: 'ObserveOnly', deletionPolicy: 'Delete' }),
  )
  await api.create(vpcs, vpc('new', { managementPolicies: ['Observe'] }))
  const rows = async (dryRun: boolean) =>
    (await migrateLive({ client: api, dryRun })).map(({ name, after, outcome }) => `${name} ${after} ${outcome}`)
  assert.deepEqual(await rows(true), ['old Observe planned'])
  assert.deepEqual(seen, [])
  assert.deepEqual(await rows(false), ['old Observe migrated'])
  assert.deepEqual(seen, [
    'true {"managementPolicies":["*"],"managementPolicy":"ObserveOnly","deletionPolicy":"Delete"}',
    'true {"managementPolicies":["Observe"]}',
    '- {"managementPolicies":["Observe"]}',
  ])
  assert.deepEqual(await rows(false), [])

  await api.create(vpcs, vpc('kept', { managementPolicies: ['*'], deletionPolicy: 'Orphan' }))
  await api.create(vpcs, vpc('resting', { managementPolicies: [], deletionPolicy: 'Orphan' }))
  assert.deepEqual(await rows(false), ['kept Create,Update,Observe,LateInitialize migrated'])
  assert.deepEqual(await rows(false), [])
})

test('POL7 whoever waits for a migration learns how far it is', async () => {
  const api = new FakeApi()
  await api.create(crds, definition)
  for (const name of ['a', 'b', 'c']) await api.create(vpcs, vpc(name, { deletionPolicy: 'Orphan' }))
  const told: string[] = []
  await migrateLive({
    client: api,
    dryRun: true,
    looked: ({ type, name, kind, kinds, objects }) =>
      told.push(`${type.kind} ${kind}/${kinds} ${name} after ${objects}`),
    told: ({ name }) => told.push(`${name} done`),
  })
  const each = (name: string, before: number) => [`VPC 1/1 ${name} after ${before}`, `${name} done`]
  assert.deepEqual(told, [...each('a', 0), ...each('b', 1), ...each('c', 2)])
})

test('POL7 what an interrupted run left paused is finished by the next, wherever it was cut off', async () => {
  for (const held of [undefined, 'false', 'true']) {
    for (let cut = 1; cut <= 3; cut++) {
      let left = cut
      const api = new FakeApi({
        after: ({ verb }) => {
          if (verb === 'patch' && --left === 0) throw new Error('cut off')
        },
      })
      await api.create(crds, definition)
      const annotations: Record<string, string> = held === undefined ? {} : { 'crossplane.io/paused': held }
      const before = vpc('old', {
        managementPolicies: ['*'],
        managementPolicy: 'ObserveOnly',
        deletionPolicy: 'Delete',
      })
      await api.create(vpcs, { ...before, metadata: { name: 'old', annotations } })
      const [first] = await migrateLive({ client: api, dryRun: false })
      assert.equal(first?.outcome, 'failed')
      assert.match(first?.error ?? '', /cannot migrate vpcs.ec2.example.org\/old: cut off/)
      await migrateLive({ client: api, dryRun: false })
      const { metadata, spec } = api.peek(vpcs, { name: 'old' })!
      assert.deepEqual(metadata.annotations ?? {}, annotations, `paused as before, ${held}, cut after ${cut}`)
      assert.deepEqual(spec, { managementPolicies: ['Observe'] })
      assert.deepEqual(await migrateLive({ client: api, dryRun: false }), [])
    }
  }
})

test('POL7 a deletionPolicy in manifests is migrated too, where it is one of ours', () => {
  const of = (lines: string) => `kind: VPC\nspec:\n${lines}  forProvider:\n    region: r\n`
  const cases: readonly { given: string; want: string; because: string }[] = [
    {
      given: of('  deletionPolicy: Orphan # keep it\n'),
      want: of('  managementPolicies: ["Create", "Update", "Observe", "LateInitialize"] # keep it\n'),
      because: 'all is the default',
    },
    {
      given: of("  managementPolicies: ['Observe', 'Delete'] # two\n  deletionPolicy: Orphan\n"),
      want: of('  managementPolicies: ["Observe"] # two\n'),
      because: 'Orphan wins over Delete',
    },
    {
      given: of('  managementPolicy: ObserveOnly\n  managementPolicies: ["Observe", "Delete"] # both\n'),
      want: of('  managementPolicies: ["Observe"] # both\n'),
      because: 'only what both fields allow is kept',
    },
    {
      given: of('  managementPolicies: [Create, Delete]\n  deletionPolicy: Orphan\n  managementPolicy: FullControl\n'),
      want: of('  managementPolicies: ["Create"]\n'),
      because: 'Orphan wins over both',
    },
    {
      given: of('  deletionPolicy: Delete\n'),
      want: of('  deletionPolicy: Delete\n'),
      because: 'that is the default, and says nothing',
    },
    {
      given: 'kind: Snapshot\nspec:\n  deletionPolicy: Orphan\n',
      want: 'kind: Snapshot\nspec:\n  deletionPolicy: Orphan\n',
      because: 'it is of another kind',
    },
  ]
  for (const { given, want, because } of cases) {
    const { text, unclear } = migrateManifest(given)
    assert.equal(text, want, because)
    assert.deepEqual(unclear, [])
    assert.equal(migrateManifest(text).changed, 0)
  }
  const long = of('  managementPolicies:\n  - Observe\n  - Delete\n  deletionPolicy: Orphan\n')
  assert.deepEqual(migrateManifest(long), { text: long, changed: 0, unclear: [6] })
})
