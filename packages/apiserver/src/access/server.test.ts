import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Client } from '@crosstie/kube'
import { type Server, startServer } from '../server.js'
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, NAMESPACES, SECRETS, SERVICE_ACCOUNTS } from './kinds.js'

/** Access control over TLS, in front of the server. */

let folder: string
let server: Server
let admin: Client

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crosstie-access-'))
  const tokenFile = join(folder, 'tokens.csv')
  await writeFile(tokenFile, 'tok-alice,alice,u1,"devs"\ntok-root,root,u2,system:masters\n')
  const auditLog = join(folder, 'audit.log')
  server = await startServer({ dataDir: join(folder, 'data'), host: '127.0.0.1', port: 0, tokenFile, auditLog })
  admin = server.client()
  await admin.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ns' } })
  const rbac = 'rbac.authorization.k8s.io'
  const roleOf = (name: string, rules: object[]) => ({
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRole',
    metadata: { name },
    rules,
  })
  await admin.create(
    CLUSTER_ROLES,
    roleOf('role-writer', [
      { apiGroups: [rbac], resources: ['clusterroles', 'clusterrolebindings'], verbs: ['create', 'list'] },
      { apiGroups: [''], resources: ['users'], resourceNames: ['bob'], verbs: ['impersonate'] },
    ]),
  )
  await admin.create(CLUSTER_ROLE_BINDINGS, {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'devs' },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'role-writer' },
    subjects: [{ apiGroup: rbac, kind: 'Group', name: 'devs' }],
  })
})
after(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

interface Answer {
  readonly code: number
  readonly body: Record<string, unknown> & { readonly message?: string; readonly status?: Record<string, unknown> }
}

function call(token: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> {
  const { ca } = server.adminAccess()
  const options = {
    method: body ? 'POST' : 'GET',
    ca,
    headers: { ...(token ? { authorization: `Bearer ${token}` } : {}), 'content-type': 'application/json', ...headers },
  }
  return new Promise((resolve, reject) => {
    request(new URL(path, server.url), options, (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => {
        const json = text.startsWith('{') ? JSON.parse(text) : { text }
        resolve({ code: response.statusCode ?? 0, body: json })
      })
    })
      .on('error', reject)
      .end(body ? JSON.stringify(body) : undefined)
  })
}

const said = async (...args: Parameters<typeof call>) => {
  const { code, body } = await call(...args)
  return [code, body.message]
}

/** Waits until the audit log holds a text. Lines are written after the response. */
async function audited(text: string): Promise<string> {
  for (;;) {
    const log = await readFile(join(folder, 'audit.log'), 'utf8')
    if (log.includes(text)) return log
    await new Promise((next) => setTimeout(next, 10))
  }
}

/** Waits until writes have ended. Returns the revision. */
async function lastRevision(): Promise<number> {
  for (;;) {
    const { revision } = server.engine.store
    await new Promise((next) => setTimeout(next, 1_000))
    if (server.engine.store.revision === revision) return revision
  }
}

test('anonymous users see health and version only', async () => {
  for (const path of ['/healthz', '/livez', '/readyz', '/version']) assert.equal((await call('', path)).code, 200, path)
  const refused = (path: string) => [403, `forbidden: User "system:anonymous" cannot get path "${path}"`]
  for (const path of ['/api', '/apis', '/metrics', '/openapi/v2', '/openid/v1/jwks']) {
    assert.deepEqual(await said('', path), refused(path))
  }
  assert.deepEqual(await said('', '/api/v1/namespaces/ns/secrets'), [
    403,
    'secrets is forbidden: User "system:anonymous" cannot list resource "secrets" in API group "" in the namespace "ns"',
  ])
  assert.deepEqual(await said('nonsense', '/version'), [401, 'Unauthorized'])
})

test('authenticated users see discovery and may do what roles allow', async () => {
  assert.equal((await call('tok-alice', '/apis')).code, 200)
  assert.deepEqual(await said('tok-alice', '/api/v1/namespaces/ns/secrets/x'), [
    403,
    'secrets "x" is forbidden: User "alice" cannot get resource "secrets" in API group "" in the namespace "ns"',
  ])
  assert.equal((await call('tok-alice', '/apis/rbac.authorization.k8s.io/v1/clusterroles')).code, 200)
  assert.equal((await call('tok-root', '/api/v1/secrets')).code, 200)
})

test('a role cannot grant more than its author has', async () => {
  const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }]
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'x' }, rules }
  assert.deepEqual(await said('tok-alice', '/apis/rbac.authorization.k8s.io/v1/clusterroles', role), [
    403,
    'clusterroles.rbac.authorization.k8s.io "x" is forbidden: user "alice" (groups=["devs" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n' +
      '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}',
  ])
})

test('impersonation, where it is allowed', async () => {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
  const { body } = await call('tok-alice', path, review, { 'Impersonate-User': 'bob' })
  assert.deepEqual(body.status, { userInfo: { username: 'bob', groups: ['system:authenticated'] } })
  assert.deepEqual(await said('tok-alice', path, review, { 'Impersonate-User': 'carol' }), [
    403,
    'users "carol" is forbidden: User "alice" cannot impersonate resource "users" in API group "" at the cluster scope',
  ])
})

test('a service account token is valid until the account is deleted', async () => {
  const metadata = { name: 'robot', namespace: 'ns' }
  await admin.create(SERVICE_ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata })
  const asked = await call('tok-root', '/api/v1/namespaces/ns/serviceaccounts/robot/token', {})
  assert.equal(asked.code, 201)
  const token = asked.body.status?.['token'] as string
  assert.equal((await call(token, '/api')).code, 200)
  assert.equal((await call(token, '/openid/v1/jwks')).code, 200)
  await admin.delete(SERVICE_ACCOUNTS, metadata)
  assert.deepEqual(await said(token, '/api'), [401, 'Unauthorized'])
})

test('the audit log holds writes and no secrets', async () => {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { password: 'hunter2' } }
  assert.equal((await call('tok-root', '/api/v1/namespaces/ns/secrets', secret)).code, 201)
  assert.equal((await call('tok-root', '/api/v1/namespaces/ns/secrets/s')).code, 200)
  await admin.get(SECRETS, { namespace: 'ns', name: 's' })
  const text = await audited('"resource":"secrets"')
  assert.ok(!text.includes('hunter2') && !text.includes('tok-root') && !text.includes('"verb":"get"'))
  const last = JSON.parse(text.trim().split('\n').at(-1)!)
  assert.deepEqual(
    [last.verb, last.user.username, last.objectRef.resource, last.responseStatus.code],
    ['create', 'root', 'secrets', 201],
  )
})

test('the audit log names impersonators and policies', async () => {
  const group = 'admissionregistration.k8s.io'
  const type = (kind: string, resource: string) => ({ group, version: 'v1', kind, resource, namespaced: false })
  const of = (kind: string, spec: object) => ({ apiVersion: `${group}/v1`, kind, metadata: { name: 'audited' }, spec })
  const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }]
  await admin.create(
    type('ValidatingAdmissionPolicy', 'validatingadmissionpolicies'),
    of('ValidatingAdmissionPolicy', {
      matchConstraints: { resourceRules },
      auditAnnotations: [{ key: 'who', valueExpression: 'request.userInfo.username' }],
    }),
  )
  await admin.create(
    type('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings'),
    of('ValidatingAdmissionPolicyBinding', { policyName: 'audited', validationActions: ['Audit'] }),
  )
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'by-another' } }
  const headers = { 'Impersonate-User': 'deputy', 'Impersonate-Group': 'system:masters' }
  assert.equal((await call('tok-root', '/api/v1/namespaces/ns/secrets', secret, headers)).code, 201)
  const last = JSON.parse((await audited('"username":"deputy"')).trim().split('\n').at(-1)!)
  assert.deepEqual([last.user.username, last.impersonatedUser.username], ['root', 'deputy'])
  assert.deepEqual(last.annotations, { 'audited/who': 'deputy' })
})

test('after a restart certificates, tokens and roles are the same, and nothing is written', async () => {
  const metadata = { name: 'lasting', namespace: 'ns' }
  await admin.create(SERVICE_ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata })
  const asked = await call('tok-root', '/api/v1/namespaces/ns/serviceaccounts/lasting/token', {})
  const token = asked.body.status?.['token'] as string
  const { ca, client } = server.adminAccess()
  const edit = await admin.get(CLUSTER_ROLES, { name: 'edit' })
  const revision = await lastRevision()
  await server.close()
  server = await startServer({ dataDir: join(folder, 'data'), host: '127.0.0.1', port: 0 })
  admin = server.client()
  assert.deepEqual([server.adminAccess().ca, server.adminAccess().client], [ca, client])
  assert.equal((await call(token, '/api')).code, 200)
  assert.deepEqual(await admin.get(CLUSTER_ROLES, { name: 'edit' }), edit)
  assert.equal(await lastRevision(), revision)
})
