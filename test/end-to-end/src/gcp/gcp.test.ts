import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { KubeObject } from '@crosstie/kube'
import { GoogleEmulator } from '@crosstie/provider-gcp/emulator'
import { eventually } from '../support/claims-world.js'
import { fileOf, Program } from '../support/program.js'

const PATIENCE_MS = 300_000
const project = 'example-project'

/** Google Cloud as people use it: the program, manifests, and the emulator in place of the cloud. */
describe('Google Cloud on the emulator', { timeout: 1_800_000 }, () => {
  let emulator: GoogleEmulator
  let program: Program

  before(async () => {
    emulator = await GoogleEmulator.start({ operationMs: 300, consistencyMs: 100 })
    Object.assign(process.env, { CROSSTIE_GCP_ENDPOINT: emulator.url, GOOGLE_CLOUD_PROJECT: project })
    program = await Program.up('--providers', 'gcp', '--poll-seconds', '2')
  })
  after(async () => {
    await program?.[Symbol.asyncDispose]()
    await emulator?.[Symbol.asyncDispose]()
  })

  const get = async (what: string, ...more: string[]): Promise<KubeObject> =>
    JSON.parse(await program.ok('get', what, ...more, '-o', 'json'))
  const conditionOf = (object: KubeObject, type: string) => {
    const { conditions = [] } = (object['status'] ?? {}) as { conditions?: { type: string; status: string }[] }
    return conditions.find((each) => each.type === type)?.status
  }
  const inSync = async (what: string): Promise<KubeObject> =>
    await eventually(
      `${what} is ready and in sync`,
      async () => {
        const object = await get(what)
        return conditionOf(object, 'Ready') === 'True' && conditionOf(object, 'Synced') === 'True' && object
      },
      PATIENCE_MS,
    )
  const apply = async (text: string): Promise<void> => {
    const { code, out, err } = await program.run(['apply', '-f', '-'], { input: text })
    assert.equal(code, 0, `${out}${err}`)
  }
  /** A request to the emulator that no kind sent. */
  const ask = async (http: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const init = { method: http, ...(body ? { body: JSON.stringify(body) } : {}) }
    const response = await fetch(`${emulator.url}/${path}`, init)
    const answer = (await response.json()) as Record<string, unknown>
    assert.ok(response.ok, JSON.stringify(answer))
    return answer
  }
  const atProvider = (object: KubeObject) => (object['status'] as { atProvider: Record<string, unknown> }).atProvider
  const sql = `sqladmin.googleapis.com/sql/v1beta4/projects/${project}/instances`
  const clusters = `container.googleapis.com/v1/projects/${project}/locations/europe-west1/clusters`

  test('AGG6 AGG11 a claim gets a cluster with two node pools and two service accounts in a new subnet', async () => {
    await program.ok('apply', '-f', fileOf('examples/gcp-cluster/infrastructure.yaml'))
    await program.ok('apply', '-f', fileOf('examples/gcp-cluster/claim.yaml'))
    await eventually(
      'the claim is ready',
      async () => conditionOf(await get('kubernetescluster', 'team', '-n', 'default'), 'Ready') === 'True',
      PATIENCE_MS,
    )
    const found = ((await ask('GET', clusters))['clusters'] ?? []) as Record<string, unknown>[]
    assert.equal(found.length, 1)
    const { nodePools, networkConfig, currentMasterVersion } = found[0] as {
      nodePools: { config: { serviceAccount: string; spot?: boolean } }[]
      networkConfig: { network: string }
      currentMasterVersion: string
    }
    assert.equal(nodePools.length, 2, 'the default node pool is gone')
    const accounts = new Set(nodePools.map(({ config }) => config.serviceAccount))
    assert.equal(accounts.size, 2)
    for (const email of accounts) assert.match(email, /@example-project\.iam\.gserviceaccount\.com$/)
    assert.match(networkConfig.network, /shared-network$/)
    assert.match(currentMasterVersion, /^1\.33\./)
    const secret = await get('secret', 'team', '-n', 'default')
    const { kubeconfig } = secret['data'] as { kubeconfig: string }
    assert.match(Buffer.from(kubeconfig, 'base64').toString(), /gke-gcloud-auth-plugin/)

    await program.ok('delete', '-f', fileOf('examples/gcp-cluster/claim.yaml'))
    await eventually('the cluster is gone', async () => !(await ask('GET', clusters))['clusters'], PATIENCE_MS)
  })

  test('OBS2 an existing Cloud SQL instance is observed, then managed', async () => {
    await ask('POST', sql, {
      name: 'existing-database-instance',
      region: 'us-central1',
      databaseVersion: 'POSTGRES_14',
      settings: { tier: 'db-custom-4-26624', availabilityType: 'REGIONAL', dataDiskSizeGb: '100' },
    })
    const manifest = (policies: string, more = '') => `
apiVersion: sql.gcp.crossplane.io/v1beta1
kind: DatabaseInstance
metadata:
  name: existing-database-instance
  annotations:
    crossplane.io/external-name: existing-database-instance
spec:
  managementPolicies: ${policies}
  forProvider:
    region: us-central1
${more}`
    await apply(manifest('["Observe"]'))
    const observed = atProvider(await inSync('databaseinstance.sql.gcp.crossplane.io/existing-database-instance'))
    assert.equal(observed['connectionName'], `${project}:us-central1:existing-database-instance`)
    assert.equal(observed['databaseVersion'], 'POSTGRES_14')
    assert.deepEqual((observed['settings'] as { dataDiskSizeGb: number }).dataDiskSizeGb, 100)

    const settings =
      '    databaseVersion: POSTGRES_14\n    settings:\n      tier: db-custom-2-7680\n      dataDiskSizeGb: 100\n'
    await apply(manifest('["*"]', settings))
    await eventually(
      'the change is applied outside',
      async () => {
        const { settings } = await ask('GET', `${sql}/existing-database-instance`)
        return (settings as { tier: string }).tier === 'db-custom-2-7680'
      },
      PATIENCE_MS,
    )
    await inSync('databaseinstance.sql.gcp.crossplane.io/existing-database-instance')
  })

  test('INI4 nodes that GKE upgrades are not downgraded', async () => {
    await ask('POST', clusters, { cluster: { name: 'upgraded', initialNodeCount: 1 } })
    await eventually(
      'the cluster runs',
      async () => (await ask('GET', `${clusters}/upgraded`))['status'] === 'RUNNING',
      PATIENCE_MS,
    )
    const poolManifest = (more: string) => `
apiVersion: container.gcp.crossplane.io/v1beta1
kind: NodePool
metadata:
  name: upgraded-pool
spec:
  forProvider:
    location: europe-west1
    cluster: upgraded
    management:
      autoUpgrade: true
      autoRepair: true
${more}`
    await apply(poolManifest(''))
    const what = 'nodepool.container.gcp.crossplane.io/upgraded-pool'
    const before = await inSync(what)
    const { forProvider } = before['spec'] as { forProvider: Record<string, unknown> }
    assert.equal(forProvider['version'], undefined, 'the version is not late-initialized')
    const pool = `${clusters}/upgraded/nodePools/upgraded-pool`
    await ask('PUT', pool, { nodeVersion: '1.31.1-gke.1000' })
    await eventually(
      'the upgrade is observed',
      async () => atProvider(await get(what))['version'] === '1.31.1-gke.1000',
      PATIENCE_MS,
    )
    // A label that the spec changes is applied, and the version stays.
    await apply(poolManifest('    labels: {team: apps}\n'))
    await eventually(
      'the label is applied',
      async () => {
        const { config } = (await ask('GET', pool)) as { config: { resourceLabels: Record<string, string> } }
        return config.resourceLabels['team'] === 'apps'
      },
      PATIENCE_MS,
    )
    assert.equal((await ask('GET', pool))['version'], '1.31.1-gke.1000')
  })
})
