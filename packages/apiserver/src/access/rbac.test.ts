import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from 'fast-check'
import { type Attributes, forbiddenError } from './authorize.js'
import { RbacAuthorizer } from './rbac.js'
import { type PolicyRule, ruleAllows, TooManyRulesError, uncovered } from './rules.js'
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

test('decisions follow changes of roles and bindings', () => {
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

test('an index that followed changes decides as a new one', () => {
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

test('a refusal has the message of kube-apiserver', () => {
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

test('a rule that combines to millions of permissions is not broken down', () => {
  const names = (count: number) => Array.from({ length: count }, (_, i) => `n${i}`)
  const huge = { verbs: ['get'], apiGroups: names(300), resources: names(300), resourceNames: names(30) }
  const own = { verbs: ['get'], apiGroups: [''], resources: ['configmaps'] }
  assert.throws(() => uncovered([own], [huge]), TooManyRulesError)
  assert.deepEqual(uncovered([{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }], [huge]), [])
})

test('rules that are covered are allowed', () => {
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
