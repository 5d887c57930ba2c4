import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { type KubeObject, StatusError } from '@crosstie/kube'
import { Authenticator, parseTokenFile } from '../access/authenticate.js'
import { signingKey } from '../access/jwt.js'
import { RbacAuthorizer } from '../access/rbac.js'
import type { PolicyRule } from '../access/rules.js'
import { FakeObjects } from '../access/testing.js'
import { ServiceAccountTokens } from '../access/tokens.js'
import {
  answerLocalSubjectAccessReview,
  answerSelfSubjectAccessReview,
  answerSelfSubjectReview,
  answerSelfSubjectRulesReview,
  answerSubjectAccessReview,
  answerTokenReview,
} from './access-reviews.js'
import { guardBinding, guardRole } from './escalation.js'

const GROUP = 'rbac.authorization.k8s.io'

function role(objects: FakeObjects, name: string, ...rules: PolicyRule[]): void {
  const [namespace, local] = name.includes('/') ? name.split('/') : [undefined, name]
  const key = namespace ? `/${GROUP}/roles/${name}` : `/${GROUP}/clusterroles/${name}`
  objects.put(key, { apiVersion: `${GROUP}/v1`, kind: 'ClusterRole', metadata: { name: local, namespace }, rules })
}

function bind(objects: FakeObjects, name: string, roleName: string, ...subjects: object[]): void {
  const [namespace, local] = name.includes('/') ? name.split('/') : [undefined, name]
  const kind = roleName.startsWith('Role ') ? 'Role' : 'ClusterRole'
  const roleRef = { apiGroup: GROUP, kind, name: roleName.replace('Role ', '') }
  const key = namespace ? `/${GROUP}/rolebindings/${name}` : `/${GROUP}/clusterrolebindings/${name}`
  objects.put(key, { metadata: { name: local, namespace }, roleRef, subjects })
}

const alice = { kind: 'User', apiGroup: GROUP, name: 'alice' }
const read: PolicyRule = { verbs: ['get', 'list'], apiGroups: [''], resources: ['secrets'] }

const context = (name: string, resource: string, groups = ['system:authenticated']) => ({
  type: { group: GROUP, version: 'v1', kind: '', resource, namespaced: false },
  subresource: '',
  user: { name, groups },
  now: 0,
  warnings: [],
})
const kubeRole = (name: string, ...rules: PolicyRule[]): KubeObject => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'ClusterRole',
  metadata: { name },
  rules,
})

function messageOf(step: () => void): string {
  try {
    step()
    return 'allowed'
  } catch (error) {
    assert.ok(error instanceof StatusError, String(error))
    return error.message
  }
}

test('a role or binding cannot grant more than its author holds', () => {
  const objects = new FakeObjects()
  role(objects, 'reader', read)
  bind(objects, 'a', 'reader', alice)
  role(objects, 'escalator', { verbs: ['escalate', 'bind'], apiGroups: [GROUP], resources: ['clusterroles'] })
  bind(objects, 'b', 'escalator', { kind: 'User', name: 'eve' })
  const rbac = new RbacAuthorizer(objects)
  const write = (who: string, object: KubeObject, old?: KubeObject, groups?: string[]) =>
    messageOf(() => guardRole(rbac)(object, old, context(who, 'clusterroles', groups)))

  const all = kubeRole(
    'x',
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    { verbs: ['get'], nonResourceURLs: ['/x'] },
  )
  assert.equal(write('alice', kubeRole('x', { ...read, verbs: ['get'], resourceNames: ['n'] })), 'allowed')
  assert.equal(write('eve', all), 'allowed')
  assert.equal(write('root', all, undefined, ['system:masters']), 'allowed')
  assert.equal(
    write('alice', kubeRole('x', { verbs: ['get', 'list', 'watch'], apiGroups: ['', 'apps'], resources: ['secrets'] })),
    'clusterroles.rbac.authorization.k8s.io "x" is forbidden: user "alice" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n' +
      '{APIGroups:[""], Resources:["secrets"], Verbs:["watch"]}\n' +
      '{APIGroups:["apps"], Resources:["secrets"], Verbs:["get" "list" "watch"]}',
  )
  bind(objects, 'dangling', 'nope', { kind: 'User', name: 'carol' })
  assert.match(
    write('carol', all),
    /\n{APIGroups:\["\*"\], Resources:\["\*"\], Verbs:\["\*"\]}\n{NonResourceURLs:\["\/x"\], Verbs:\["get"\]}; resolution errors: \[clusterroles.rbac.authorization.k8s.io "nope" not found\]$/,
  )
  const aggregating = { ...kubeRole('x'), aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } }
  const why = 'must have cluster-admin privileges to use the aggregationRule'
  assert.equal(write('alice', aggregating), `clusterroles.rbac.authorization.k8s.io "x" is forbidden: ${why}`)
  assert.match(write('alice', kubeRole('x'), aggregating), /must have cluster-admin/)
  const released = { ...all, metadata: { ...all.metadata, finalizers: [], resourceVersion: '9' } }
  assert.equal(write('alice', released, { ...all, metadata: { ...all.metadata, finalizers: ['f'] } }), 'allowed')

  const binding = (roleName: string): KubeObject => ({
    apiVersion: `${GROUP}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'mine' },
    roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: roleName },
  })
  const binds = (who: string, roleName: string) =>
    messageOf(() => guardBinding(rbac)(binding(roleName), undefined, context(who, 'clusterrolebindings')))
  assert.equal(binds('alice', 'reader'), 'allowed')
  assert.equal(binds('eve', 'reader'), 'allowed')
  assert.match(
    binds('alice', 'escalator'),
    /^clusterrolebindings.rbac.authorization.k8s.io "mine" is forbidden: user "alice"/,
  )
  assert.equal(binds('alice', 'nope'), 'clusterrolebindings.rbac.authorization.k8s.io "nope" not found')
})

test('access reviews', () => {
  const objects = new FakeObjects()
  role(objects, 'reader', read, { verbs: ['get'], nonResourceURLs: ['/x'] })
  bind(objects, 'a', 'reader', alice)
  const rbac = new RbacAuthorizer(objects)
  const review = (spec: object, metadata = {}) => ({
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    metadata,
    spec,
  })
  const secrets = { resource: 'secrets', verb: 'get', namespace: 'ns' }
  const asAlice = context('alice', '')
  const subject = (spec: object, metadata = {}) =>
    answerSubjectAccessReview(rbac)(review(spec, metadata), asAlice)['status'] as Record<string, unknown>
  const reason = 'RBAC: allowed by ClusterRoleBinding "a" of ClusterRole "reader" to User "alice"'
  assert.deepEqual(subject({ user: 'alice', resourceAttributes: secrets }), { allowed: true, reason })
  assert.deepEqual(subject({ user: 'bob', resourceAttributes: secrets }), { allowed: false })
  assert.deepEqual(subject({ user: 'alice', nonResourceAttributes: { path: '/x', verb: 'get' } }).allowed, true)
  assert.deepEqual(subject({ groups: ['system:masters'], resourceAttributes: secrets }), { allowed: true })
  assert.deepEqual(
    subject({ user: 'bob', resourceAttributes: { ...secrets, fieldSelector: { rawSelector: 'a==b==c,,' } } })[
      'allowed'
    ],
    false,
  )
  const self = answerSelfSubjectAccessReview(rbac)(review({ resourceAttributes: secrets }), asAlice)
  assert.deepEqual(self['status'], { allowed: true, reason })

  const invalid = '.authorization.k8s.io "" is invalid: '
  const one =
    'spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified'
  const noSubject = 'spec.user: Invalid value: "": at least one of user or group must be specified'
  assert.equal(
    messageOf(() => subject({ user: 'a' })),
    invalid + one,
  )
  assert.equal(
    messageOf(() => subject({})),
    `${invalid}[${one}, ${noSubject}]`,
  )
  assert.equal(
    messageOf(() =>
      subject({ user: 'a', resourceAttributes: secrets, nonResourceAttributes: { path: '/x', verb: 'get' } }),
    ),
    `${invalid}spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: cannot be specified in combination with resourceAttributes`,
  )
  assert.match(
    messageOf(() => subject({ user: 'a', resourceAttributes: secrets }, { name: 'x' })),
    /metadata: .*: must be empty$/,
  )

  const local = (spec: object) =>
    answerLocalSubjectAccessReview(rbac)(review(spec, { namespace: 'ns' }), asAlice)['status']
  assert.deepEqual(local({ user: 'alice', resourceAttributes: secrets }), { allowed: true, reason })
  assert.equal(
    messageOf(() => local({ user: 'a', resourceAttributes: { ...secrets, namespace: 'd' } })),
    `${invalid}spec.resourceAttributes.namespace: Invalid value: "d": must match metadata.namespace`,
  )
  assert.equal(
    messageOf(() => local({ user: 'a', nonResourceAttributes: { path: '/x', verb: 'get' } })),
    `${invalid}spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: disallowed on this kind of request`,
  )

  const rules = answerSelfSubjectRulesReview(rbac)(review({ namespace: 'ns' }), asAlice)
  assert.deepEqual(JSON.parse(JSON.stringify(rules['status'])), {
    resourceRules: [read],
    nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }],
    incomplete: false,
  })
  assert.equal(
    messageOf(() => answerSelfSubjectRulesReview(rbac)(review({}), asAlice)),
    'no namespace on request',
  )
})

test('TokenReview and SelfSubjectReview', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  const clock = { now: () => now }
  const issuer = 'https://kubernetes.default.svc'
  const key = signingKey(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey)
  const objects = new FakeObjects()
  const tokens = new ServiceAccountTokens({ objects, key, issuer, audiences: [issuer], clock, newId: () => 'id' })
  const staticTokens = parseTokenFile('fixed,alice,u1,"g1,g2"\n', 'tokens.csv')
  const authenticator = new Authenticator({ tokens, staticTokens, clock })
  const user = { name: 'alice', uid: 'u1', groups: ['g'], extra: { k: ['v'] } }
  const asked = { ...context('alice', ''), user, now }
  const answer = answerTokenReview(authenticator)
  const ask = (spec: object) =>
    answer({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {}, spec }, asked)['status']
  assert.deepEqual(ask({ token: 'fixed' }), {
    authenticated: true,
    user: { username: 'alice', uid: 'u1', groups: ['g1', 'g2', 'system:authenticated'] },
    audiences: [issuer],
  })
  assert.deepEqual(ask({ token: 'nonsense' }), { user: {}, error: 'invalid bearer token' })
  assert.equal(
    messageOf(() => ask({})),
    'token is required for TokenReview in authentication',
  )
  const self = answerSelfSubjectReview(
    { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: { name: 'dropped' } },
    asked,
  )
  assert.deepEqual(self, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'SelfSubjectReview',
    metadata: { creationTimestamp: '2026-01-01T00:00:00Z' },
    status: { userInfo: { username: 'alice', uid: 'u1', groups: ['g'], extra: { k: ['v'] } } },
  })
})
