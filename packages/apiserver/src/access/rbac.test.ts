import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type KubeObject, StatusError } from '@crosstie/kube'
import fc from 'fast-check'
import {
  answerLocalSubjectAccessReview,
  answerSelfSubjectAccessReview,
  answerSelfSubjectRulesReview,
  answerSubjectAccessReview,
} from '../builtin/access-reviews.js'
import { guardBinding, guardRole } from '../builtin/escalation.js'
import { type Attributes, forbiddenError } from './authorize.js'
import { RbacAuthorizer } from './rbac.js'
import { type PolicyRule, ruleAllows, uncovered } from './rules.js'
import { FakeObjects } from './testing.js'

const GROUP = 'rbac.authorization.k8s.io'
const user = (name: string, ...groups: string[]) => ({ name, groups })

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

test('a rule allows', () => {
  const at = (fields: Partial<Attributes>): Attributes => ({ user: user('x'), verb: 'get', ...fields })
  const pods = at({ group: '', resource: 'pods' })
  const cases: [PolicyRule, Attributes, boolean, string][] = [
    [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }, pods, true, 'it names all'],
    [{ verbs: ['list'], apiGroups: [''], resources: ['pods'] }, pods, false, 'another verb'],
    [{ verbs: ['get'], apiGroups: ['apps'], resources: ['pods'] }, pods, false, 'another group'],
    [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, pods, true, 'stars'],
    [
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      { ...pods, subresource: 'log' },
      true,
      'star and subresource',
    ],
    [
      { verbs: ['get'], apiGroups: [''], resources: ['pods'] },
      { ...pods, subresource: 'log' },
      false,
      'not the subresource',
    ],
    [
      { verbs: ['get'], apiGroups: [''], resources: ['pods/log'] },
      { ...pods, subresource: 'log' },
      true,
      'the subresource',
    ],
    [{ verbs: ['get'], apiGroups: [''], resources: ['pods/log'] }, pods, false, 'only the subresource'],
    [
      { verbs: ['get'], apiGroups: [''], resources: ['*/scale'] },
      { ...pods, subresource: 'scale' },
      true,
      'of anything',
    ],
    [{ verbs: ['get'], apiGroups: [''], resources: ['*/scale'] }, pods, false, 'but not the thing itself'],
    [
      { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] },
      { ...pods, name: 'a' },
      true,
      'named',
    ],
    [
      { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] },
      { ...pods, name: 'b' },
      false,
      'other name',
    ],
    [
      { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] },
      pods,
      false,
      'no name, as in list',
    ],
    [{ verbs: ['get'], nonResourceURLs: ['/api'] }, at({ path: '/api' }), true, 'exact path'],
    [{ verbs: ['get'], nonResourceURLs: ['/api'] }, at({ path: '/api/v1' }), false, 'path below'],
    [{ verbs: ['get'], nonResourceURLs: ['/api/*'] }, at({ path: '/api/v1' }), true, 'prefix'],
    [{ verbs: ['get'], nonResourceURLs: ['*'] }, at({ path: '/x' }), true, 'any path'],
    [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, at({ path: '/x' }), false, 'resources are not paths'],
    [{ verbs: ['*'], nonResourceURLs: ['*'] }, pods, false, 'paths are not resources'],
  ]
  for (const [rule, attributes, want, because] of cases) assert.equal(ruleAllows(rule, attributes), want, because)
})

test('decisions follow roles and bindings as they change', () => {
  const objects = new FakeObjects()
  role(objects, 'reader', read)
  const rbac = new RbacAuthorizer(objects)
  const asker = user('alice', 'devs', 'system:authenticated')
  const may = (namespace = '', resource = 'secrets') =>
    rbac.authorize({ user: asker, verb: 'list', group: '', resource, namespace })
  assert.deepEqual(may(), { allowed: false, reason: '' })

  bind(objects, 'a', 'reader', { kind: 'User', name: 'bob' }, { kind: 'Group', name: 'devs' })
  assert.deepEqual(may(), {
    allowed: true,
    reason: 'RBAC: allowed by ClusterRoleBinding "a" of ClusterRole "reader" to Group "devs"',
  })
  assert.equal(may(), may(), 'remembered')
  bind(objects, 'a', 'reader', { kind: 'Group', name: 'devs' }, alice)
  assert.match(may().reason, /to Group "devs"$/, 'the first subject that applies')
  role(objects, 'reader')
  assert.equal(may().allowed, false)
  role(objects, 'reader', read)
  assert.equal(may('ns').allowed, true)
  objects.remove(`/${GROUP}/clusterrolebindings/a`)
  assert.equal(may('ns').allowed, false)

  bind(objects, 'ns/b', 'reader', alice)
  assert.equal(may('ns').reason, 'RBAC: allowed by RoleBinding "b/ns" of ClusterRole "reader" to User "alice"')
  assert.equal(may('other').allowed, false)
  assert.equal(may().allowed, false)
  bind(objects, 'ns/b', 'Role local', alice)
  assert.equal(may('ns').reason, 'RBAC: role.rbac.authorization.k8s.io "local" not found')
  bind(objects, 'c', 'nope', alice)
  assert.equal(
    may('ns').reason,
    'RBAC: [clusterrole.rbac.authorization.k8s.io "nope" not found, role.rbac.authorization.k8s.io "local" not found]',
  )
  role(objects, 'ns/local', read)
  assert.equal(may('ns').allowed, true)
})

test('service accounts are subjects by name and namespace, masters may do anything', () => {
  const objects = new FakeObjects()
  role(objects, 'reader', read)
  bind(objects, 'ns/a', 'reader', { kind: 'ServiceAccount', name: 'robot' })
  bind(objects, 'ns/b', 'reader', { kind: 'ServiceAccount', name: 'far', namespace: 'other' })
  const rbac = new RbacAuthorizer(objects)
  const may = (who: string, ...groups: string[]) =>
    rbac.authorize({
      user: user(who, ...groups),
      verb: 'get',
      group: '',
      resource: 'secrets',
      namespace: 'ns',
      name: 'x',
    })
  assert.equal(
    may('system:serviceaccount:ns:robot').reason,
    'RBAC: allowed by RoleBinding "a/ns" of ClusterRole "reader" to ServiceAccount "robot/ns"',
  )
  assert.equal(may('system:serviceaccount:other:far').allowed, true)
  assert.equal(may('system:serviceaccount:ns:far').allowed, false)
  assert.deepEqual(may('anybody', 'system:masters'), { allowed: true, reason: '' })
})

test('an index that followed changes decides as one that starts afresh', () => {
  const rules = [read, { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, { verbs: ['get'], nonResourceURLs: ['*'] }]
  const step = fc.record({
    what: fc.constantFrom('role', 'binding', 'removeRole', 'removeBinding'),
    name: fc.constantFrom('a', 'b', 'ns/a', 'ns/b'),
    rule: fc.constantFrom(...rules),
    to: fc.constantFrom('a', 'b', 'Role a'),
    subject: fc.constantFrom(
      alice,
      { kind: 'Group', name: 'g' },
      { kind: 'ServiceAccount', name: 's', namespace: 'ns' },
    ),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const objects = new FakeObjects()
      const followed = new RbacAuthorizer(objects)
      for (const { what, name, rule, to, subject } of steps) {
        const scope = name.includes('/') ? '' : 'cluster'
        if (what === 'role') role(objects, name, rule)
        if (what === 'binding') bind(objects, name, to, subject)
        if (what === 'removeRole') objects.remove(`/${GROUP}/${scope}roles/${name}`)
        if (what === 'removeBinding') objects.remove(`/${GROUP}/${scope}rolebindings/${name}`)
      }
      const fresh = new RbacAuthorizer(objects)
      for (const asker of [user('alice'), user('x', 'g'), user('system:serviceaccount:ns:s')]) {
        for (const namespace of ['', 'ns', 'other']) {
          const question = { user: asker, verb: 'get', group: '', resource: 'secrets', namespace }
          assert.equal(followed.authorize(question).allowed, fresh.authorize(question).allowed)
        }
      }
    }),
    { numRuns: 100 },
  )
})

test('forbidden in the words of the real server', () => {
  const who = user('x<y>')
  const say = (attributes: Omit<Attributes, 'user'>, reason = '') =>
    forbiddenError({ user: who, ...attributes }, reason).toStatus()
  assert.equal(
    say({ verb: 'list', group: '', resource: 'secrets', namespace: 'y' }).message,
    'secrets is forbidden: User "x&lt;y&gt;" cannot list resource "secrets" in API group "" in the namespace "y"',
  )
  const status = say(
    { verb: 'update', group: 'apps', resource: 'things', subresource: 'status', name: 'n' },
    'RBAC: why',
  )
  assert.equal(
    status.message,
    'things.apps "n" is forbidden: User "x&lt;y&gt;" cannot update resource "things/status" in API group "apps" at the cluster scope: RBAC: why',
  )
  assert.deepEqual(status.details, { name: 'n', group: 'apps', kind: 'things' })
  const path = say({ verb: 'get', path: '/openid/v1/jwks' })
  assert.equal(path.message, 'forbidden: User "x&lt;y&gt;" cannot get path "/openid/v1/jwks"')
  assert.deepEqual(path.details, {})
})

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

test('nobody grants what they do not hold', () => {
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

test('what is not uncovered is allowed', () => {
  const text = (...values: string[]) => fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 2 })
  const rule = fc.record({
    verbs: text('get', 'list', '*'),
    apiGroups: text('', 'apps', '*'),
    resources: text('pods', 'pods/log', '*/log', '*'),
    resourceNames: fc.option(text('a', 'b'), { nil: undefined }),
  })
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 3 }), rule, (owned, wanted) => {
      if (uncovered(owned, [wanted]).length > 0) return
      for (const verb of ['get', 'list', 'watch']) {
        for (const group of ['', 'apps', 'batch']) {
          for (const [resource, subresource] of [
            ['pods', ''],
            ['pods', 'log'],
            ['jobs', 'log'],
            ['jobs', ''],
          ]) {
            for (const name of ['', 'a', 'b', 'c']) {
              const question = { user: user('x'), verb, group, resource, subresource, name }
              if (!ruleAllows(wanted, question)) continue
              assert.ok(
                owned.some((own) => ruleAllows(own, question)),
                JSON.stringify(question),
              )
            }
          }
        }
      }
    }),
    { numRuns: 300 },
  )
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
  const nobody = 'spec.user: Invalid value: "": at least one of user or group must be specified'
  assert.equal(
    messageOf(() => subject({ user: 'a' })),
    invalid + one,
  )
  assert.equal(
    messageOf(() => subject({})),
    `${invalid}[${one}, ${nobody}]`,
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
