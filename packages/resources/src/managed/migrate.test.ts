import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeApi } from '../testing/fakeapi.js'
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

test('POL7 live objects are paused, migrated and resumed; a dry run only tells', async () => {
  const seen: string[] = []
  const api = new FakeApi({
    before: ({ verb, after }) => {
      if (verb === 'patch')
        seen.push(`${after?.metadata.annotations?.['crossplane.io/paused'] ?? '-'} ${JSON.stringify(after?.['spec'])}`)
    },
  })
  const spec = {
    group: vpcs.group,
    scope: 'Cluster',
    names: { kind: 'VPC', plural: 'vpcs', categories: ['managed'] },
    versions: [{ name: 'v1', storage: true }],
  }
  await api.create(crds, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: crds.kind,
    metadata: { name: 'vpcs.ec2.example.org' },
    spec,
  })
  const vpc = (name: string, more: object) => ({
    apiVersion: 'ec2.example.org/v1',
    kind: 'VPC',
    metadata: { name },
    spec: more,
  })
  await api.create(
    vpcs,
    vpc('old', { managementPolicies: ['*'], managementPolicy: 'ObserveOnly', deletionPolicy: 'Delete' }),
  )
  await api.create(vpcs, vpc('new', { managementPolicies: ['Observe'] }))
  const told: string[] = []
  const tell = (line: string) => told.push(line)
  assert.equal(await migrateLive({ client: api, dryRun: true, tell }), 1)
  assert.deepEqual(seen, [])
  assert.equal(await migrateLive({ client: api, dryRun: false, tell }), 1)
  assert.deepEqual(told, ['vpcs.ec2.example.org/old: ["Observe"]', 'vpcs.ec2.example.org/old: ["Observe"]'])
  assert.deepEqual(seen, [
    'true {"managementPolicies":["*"],"managementPolicy":"ObserveOnly","deletionPolicy":"Delete"}',
    'true {"managementPolicies":["Observe"]}',
    '- {"managementPolicies":["Observe"]}',
  ])
  assert.equal(await migrateLive({ client: api, dryRun: false, tell }), 0)
})
