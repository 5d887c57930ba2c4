import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Client, KubeObject, ResourceType } from '@crosstie/kube'
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES } from './access/kinds.js'
import { aggregatedDiscovery, apiGroupList, apiResourceList } from './http/discovery.js'
import { type Server, startServer } from './server.js'
import { RESERVED_GROUPS } from './serving/reserved-groups.js'

/**
 * Built-in kinds take precedence over CRDs of the same name: over HTTPS, with the permissions of the attacker, on a
 * real data directory.
 */

const CRDS: ResourceType = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  resource: 'customresourcedefinitions',
  namespaced: false,
}
const RBAC = 'rbac.authorization.k8s.io'

interface Shadow {
  readonly group: string
  readonly plural: string
  readonly kind: string
  readonly namespaced?: boolean
}

/** Returns a CRD with the name of a built-in kind, in its version and in one that the kind does not have. */
function shadow({ group, plural, kind, namespaced = false }: Shadow): KubeObject {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes/kubernetes/pull/1' },
    },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: { plural, kind, singular: kind.toLowerCase(), shortNames: [`${plural}x`], categories: ['all'] },
      versions: [
        { name: 'v1', served: true, storage: true, schema, subresources: { status: {} } },
        { name: 'v9', served: true, storage: false, schema },
      ],
    },
  }
}

async function until(what: string, done: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = Date.now() + 120_000
  while (!(await done())) {
    if (Date.now() > deadline) throw new Error(`did not happen within two minutes: ${what}`)
    await new Promise((next) => setTimeout(next, 5))
  }
}

const isEstablished = (crd: KubeObject | undefined): boolean =>
  ((crd?.['status'] as { conditions?: { type: string; status: string }[] })?.conditions ?? []).some(
    ({ type, status }) => type === 'Established' && status === 'True',
  )

async function establish(admin: Client, crd: KubeObject): Promise<void> {
  await admin.create(CRDS, crd)
  const name = crd.metadata.name!
  await until(`${name} is established`, async () => isEstablished(await admin.get(CRDS, { name })))
}

async function removed(admin: Client, name: string): Promise<void> {
  await admin.delete(CRDS, { name })
  await until(`${name} is gone`, async () => {
    const { items } = await admin.list(CRDS, {})
    return !items.some(({ metadata }) => metadata.name === name)
  })
}

describe('CRDs in the groups of built-in kinds', () => {
  let folder: string
  let server: Server
  let admin: Client

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'crosstie-reserved-'))
    const tokenFile = join(folder, 'tokens.csv')
    await writeFile(tokenFile, 'tok-mallory,mallory,u1,tenants\n')
    server = await startServer({ dataDir: join(folder, 'data'), host: '127.0.0.1', port: 0, tokenFile })
    admin = server.client()
  })
  after(async () => {
    await server.close()
    await rm(folder, { recursive: true, force: true })
  })

  function call(method: string, path: string, body?: object): Promise<{ code: number; text: string }> {
    const { ca } = server.adminAccess()
    const headers = { authorization: 'Bearer tok-mallory', 'content-type': 'application/json' }
    return new Promise((resolve, reject) => {
      request(new URL(path, server.url), { method, ca, headers }, (response) => {
        let text = ''
        response.on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () => resolve({ code: response.statusCode ?? 0, text }))
      })
        .on('error', reject)
        .end(body && JSON.stringify(body))
    })
  }

  /** Returns the discovery documents of built-in kinds. */
  function discovered(): unknown {
    const { registry } = server.engine
    const groups = [...new Set(registry.definitions().map(({ group }) => group))]
    return [
      apiGroupList(registry),
      aggregatedDiscovery(registry, true, 'v2'),
      aggregatedDiscovery(registry, false, 'v2'),
      groups.map((group) => apiResourceList(registry, group, 'v1')),
    ]
  }

  const stored = (): string[] => server.engine.store.list('/').items.map(({ key }) => key)

  test('a user who may create CRDs and bindings does not become cluster-admin', async () => {
    const apiVersion = `${RBAC}/v1`
    await admin.create(CLUSTER_ROLES, {
      apiVersion,
      kind: 'ClusterRole',
      metadata: { name: 'extender' },
      rules: [
        { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: ['*'] },
        { apiGroups: [RBAC], resources: ['clusterrolebindings', 'clusterrolebindings/status'], verbs: ['*'] },
      ],
    })
    const binding = (name: string, role: string): KubeObject => ({
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: RBAC, kind: 'User', name: 'mallory' }],
    })
    await admin.create(CLUSTER_ROLE_BINDINGS, binding('extenders', 'extender'))
    const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const crd = shadow({ group: RBAC, plural: 'clusterrolebindings', kind: 'ClusterRoleBinding' })
    assert.equal((await call('POST', crds, crd)).code, 201)
    const name = crd.metadata.name!
    await until('the CRD is established', async () => isEstablished(await admin.get(CRDS, { name })))

    const refused = await call('POST', `/apis/${RBAC}/v1/clusterrolebindings`, binding('own', 'cluster-admin'))
    assert.equal(refused.code, 403)
    assert.match(refused.text, /attempting to grant RBAC permissions not currently held/)
    for (const path of ['v9/clusterrolebindings', 'v9', 'v1/clusterrolebindings/extenders/status']) {
      assert.equal((await call('GET', `/apis/${RBAC}/${path}`)).code, 404, path)
    }
    const replaced = await call('POST', `/apis/${RBAC}/v9/clusterrolebindings`, {
      ...binding('own', 'cluster-admin'),
      apiVersion: `${RBAC}/v9`,
    })
    assert.equal(replaced.code, 404)
    assert.equal((await call('GET', '/api/v1/secrets')).code, 403)

    const before = stored().filter((key) => key.startsWith(`/${RBAC}/`))
    assert.equal((await call('DELETE', `${crds}/${name}`)).code, 200)
    await until('the CRD is gone', async () => !stored().some((key) => key.endsWith(`/${name}`)))
    assert.deepEqual(
      stored().filter((key) => key.startsWith(`/${RBAC}/`)),
      before,
    )
  })

  test('built-in kinds are not replaced in any version and lose no objects with the CRD', async () => {
    const { registry } = server.engine
    const lease = { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease', resource: 'leases', namespaced: true }
    const metadata = { name: 'leader', namespace: 'default' }
    await admin.create(lease, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata })
    const kinds = registry.definitions().filter(({ group }) => group.includes('.'))
    assert.ok(kinds.length > 15)
    for (const { group, names, namespaced } of kinds) {
      const known = registry.resolve(group, 'v1', names.plural)
      const page = discovered()
      const keys = stored()
      const crd = shadow({ group, plural: names.plural, kind: names.kind, namespaced })
      await establish(admin, crd)
      assert.equal(registry.resolve(group, 'v1', names.plural), known, crd.metadata.name)
      assert.equal(registry.byKind(group, 'v1', names.kind), known, crd.metadata.name)
      assert.equal(registry.resolve(group, 'v9', names.plural), undefined, crd.metadata.name)
      assert.deepEqual(discovered(), page, crd.metadata.name)
      await removed(admin, crd.metadata.name!)
      assert.equal(registry.resolve(group, 'v1', names.plural), known, crd.metadata.name)
      assert.deepEqual(stored(), keys, crd.metadata.name)
    }
  })

  test('a reserved group gets no new kinds, even where this server has no built-in kind', async () => {
    const { registry } = server.engine
    for (const group of RESERVED_GROUPS) {
      const page = discovered()
      const crd = shadow({ group, plural: 'widgets', kind: 'Widget' })
      await establish(admin, crd)
      assert.deepEqual([registry.definition(group, 'widgets'), discovered()], [undefined, page], group)
      assert.equal((await call('GET', `/openapi/v3/apis/${group}/v9`)).code, 404, group)
      await removed(admin, crd.metadata.name!)
    }
  })
})

test('a CRD that an earlier version served is not served after an upgrade, and only its own objects are deleted with it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'crosstie-reserved-'))
  const options = { dataDir: join(folder, 'data'), host: '127.0.0.1', port: 0 }
  try {
    const first = await startServer(options)
    const kinds = [
      { group: RBAC, plural: 'clusterrolebindings', kind: 'ClusterRoleBinding' },
      { group: RBAC, plural: 'widgets', kind: 'Widget' },
    ]
    for (const kind of kinds) await establish(first.client(), shadow(kind))
    const left: KubeObject = { apiVersion: `${RBAC}/v1`, kind: 'Widget', metadata: { name: 'left', uid: 'u' } }
    await first.engine.store.write([{ do: 'put', key: `/${RBAC}/widgets/left`, object: left, expect: 'absent' }])
    await first.close()

    const second = await startServer(options)
    try {
      const { registry, store } = second.engine
      assert.equal(registry.definition(RBAC, 'clusterrolebindings')?.crdUid, undefined)
      assert.equal(registry.definition(RBAC, 'widgets'), undefined)
      const bindings = store.count(`/${RBAC}/clusterrolebindings/`)
      assert.ok(bindings > 0)
      for (const { plural } of kinds) await removed(second.client(), `${plural}.${RBAC}`)
      assert.equal(store.count(`/${RBAC}/clusterrolebindings/`), bindings)
      assert.equal(store.count(`/${RBAC}/widgets/`), 0)
    } finally {
      await second.close()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
