import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type KubeObject, type ResourceType, StatusError } from '@crosstie/kube'
import type { Attributes } from '../../access/authorize.js'
import { FakeObjects } from '../../access/testing.js'
import type { AdmissionAttributes } from '../webhooks/attributes.js'
import { Policies } from './policies.js'

const widgets: ResourceType = {
  group: 'acme.io',
  version: 'v1',
  kind: 'Widget',
  resource: 'widgets',
  namespaced: true,
}
const limits: ResourceType = { group: 'acme.io', version: 'v1', kind: 'Limit', resource: 'limits', namespaced: true }
const kinds = {
  equivalents: () => [],
  convert: async (object: KubeObject) => object,
  find: (apiVersion: string, kind: string) => (apiVersion === 'acme.io/v1' && kind === 'Limit' ? limits : undefined),
}

const items = Array.from({ length: 200 }, (_, i) => i)
const attributes = (fields: Partial<AdmissionAttributes> = {}): AdmissionAttributes => ({
  operation: 'CREATE',
  type: widgets,
  subresource: '',
  name: 'w',
  namespace: 'ns',
  object: {
    apiVersion: 'acme.io/v1',
    kind: 'Widget',
    metadata: { name: 'w', namespace: 'ns' },
    spec: { size: 5, items },
  },
  oldObject: undefined,
  options: undefined,
  dryRun: false,
  user: { name: 'alice', groups: [] },
  warnings: [],
  annotations: new Map(),
  ...fields,
})

const resourceRules = [{ operations: ['*'], apiGroups: ['acme.io'], apiVersions: ['*'], resources: ['widgets'] }]
const POLICIES = '/admissionregistration.k8s.io/validatingadmissionpolicies'

/** Only alice may `approve` widgets. */
const authorizer = {
  authorize: ({ user, verb, resource }: Attributes) => ({
    allowed: user.name === 'alice' && verb === 'approve' && resource === 'widgets',
    reason: '',
  }),
}

function world() {
  const objects = new FakeObjects()
  const policies = new Policies({ store: objects, kinds, authorizer })
  objects.put('//namespaces/ns', { metadata: { name: 'ns', labels: { env: 'prod' } } })
  let generation = 0
  const policy = (spec: object, name = 'p') =>
    objects.put(`${POLICIES}/${name}`, {
      metadata: { name, generation: ++generation },
      spec: { matchConstraints: { resourceRules }, ...spec },
    })
  const binding = (spec: object = {}, name = 'b') =>
    objects.put(`/admissionregistration.k8s.io/validatingadmissionpolicybindings/${name}`, {
      metadata: { name },
      spec: { policyName: 'p', validationActions: ['Deny'], ...spec },
    })
  const ask = async (fields: Partial<AdmissionAttributes> = {}) => {
    try {
      await policies.validate(attributes(fields))
      return 'admitted'
    } catch (error) {
      assert.ok(error instanceof StatusError, String(error))
      return error.message
    }
  }
  return { objects, policies, policy, binding, ask }
}

const denied = (why: string) =>
  `widgets.acme.io "w" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ${why}`

test('a bound policy denies by its expressions', async () => {
  const { policies, policy, binding, ask, objects } = world()
  policy({ validations: [{ expression: 'object.spec.size < 3' }] })
  assert.equal(policies.active, false)
  assert.equal(await ask(), 'admitted')
  binding()
  assert.equal(policies.active, true)
  assert.equal(await ask(), denied('failed expression: object.spec.size < 3'))
  assert.equal(await ask({ type: limits }), 'admitted')
  policy({ validations: [{ expression: 'object.spec.size < 9' }] })
  assert.equal(await ask(), 'admitted')
  policy({ validations: [{ expression: 'false' }] })
  assert.notEqual(await ask(), 'admitted')
  objects.remove(`${POLICIES}/p`)
  assert.equal(await ask(), 'admitted')
})

test('messages, reasons and codes', async () => {
  const cases: [object, string][] = [
    [{ expression: ' false ' }, 'failed expression: false'],
    [{ expression: 'false', message: ' too big ' }, 'too big'],
    [{ expression: 'false', message: 'm', messageExpression: '"size is " + string(object.spec.size)' }, 'size is 5'],
    [{ expression: 'false', message: 'm', messageExpression: '"a\\nb"' }, 'm'],
    [{ expression: 'false', message: 'm', messageExpression: '""' }, 'm'],
    [{ expression: 'false', message: 'm', messageExpression: 'string(object.no.such)' }, 'm'],
    [{ expression: 'object.no.such == 1' }, "expression 'object.no.such == 1' resulted in error: no such key: no"],
    [
      { expression: 'object.' },
      "compilation error: compilation failed: ERROR: <input>:1:8: Syntax error: no viable alternative at input '.'\n | object.\n | .......^",
    ],
    [{ expression: 'object.spec.size' }, 'compilation error: must evaluate to bool but got dyn'],
    [
      { expression: 'object.spec.items.all(a, object.spec.items.all(b, object.spec.items.all(c, true)))' },
      "expression 'object.spec.items.all(a, object.spec.items.all(b, object.spec.items.all(c, true)))' resulted in error: operation cancelled: actual cost limit exceeded",
    ],
  ]
  for (const [validation, want] of cases) {
    const { policy, binding, ask } = world()
    binding()
    policy({ validations: [{ expression: 'true' }, validation] })
    assert.equal(await ask(), denied(want))
    policy({ validations: [validation], failurePolicy: 'Ignore' })
    const evaluated = (validation as { expression: string }).expression.trim() === 'false'
    assert.equal(await ask(), evaluated ? denied(want) : 'admitted')
  }
  const { policy, binding, policies } = world()
  binding()
  for (const [reason, code] of [
    [undefined, 422],
    ['Forbidden', 403],
    ['Unauthorized', 401],
    ['RequestEntityTooLarge', 413],
  ]) {
    policy({ validations: [{ expression: 'false', reason }] })
    const error = await policies.validate(attributes()).catch((caught: StatusError) => caught)
    assert.deepEqual([error?.code, error?.reason], [code, reason ?? 'Invalid'])
    assert.deepEqual(error?.details, {
      name: 'w',
      group: 'acme.io',
      kind: 'widgets',
      causes: [{ message: "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed expression: false" }],
    })
  }
})

test('variables build on each other and are evaluated when used', async () => {
  const { policy, binding, ask } = world()
  binding()
  policy({
    variables: [
      { name: 'size', expression: 'object.spec.size' },
      { name: 'twice', expression: 'variables.size * 2' },
      { name: 'unused', expression: '1 / 0' },
      { name: 'bad', expression: 'object.no.such' },
      { name: 'worse', expression: 'object.' },
    ],
    validations: [{ expression: 'variables.twice == 10' }],
  })
  assert.equal(await ask(), 'admitted')
  policy({
    variables: [{ name: 'bad', expression: 'object.no.x == 1' }],
    validations: [{ expression: 'variables.bad' }],
  })
  assert.equal(
    await ask(),
    denied(
      `expression 'variables.bad' resulted in error: composited variable "bad" fails to evaluate: no such key: no`,
    ),
  )
  policy({ variables: [{ name: 'bad', expression: 'object.' }], validations: [{ expression: 'variables.bad == 1' }] })
  assert.match(await ask(), /composited variable "bad" fails to compile: compilation failed/)
})

test('what expressions see', async () => {
  const { policy, binding, ask } = world()
  binding()
  const see = async (expression: string, fields: Partial<AdmissionAttributes> = {}) => {
    policy({ validations: [{ expression }] })
    return (await ask(fields)) === 'admitted'
  }
  assert.ok(await see('request.operation == "CREATE" && request.userInfo.username == "alice"'))
  assert.ok(await see('request.resource.resource == "widgets" && request.name == "w" && request.namespace == "ns"'))
  assert.ok(await see('namespaceObject.metadata.labels.env == "prod"'))
  assert.ok(await see('oldObject == null'))
  assert.ok(await see('authorizer.requestResource.check("approve").allowed()'))
  assert.ok(await see('!authorizer.group("acme.io").resource("widgets").check("eat").allowed()'))
  assert.ok(
    await see('!authorizer.serviceAccount("ns", "robot").group("").resource("widgets").check("approve").allowed()'),
  )
  assert.ok(await see('object == null', { operation: 'DELETE', object: undefined }))
  assert.ok(await see('namespaceObject == null', { namespace: '' }))
  assert.equal(await ask({ namespace: 'gone' }), 'namespaces "gone" not found')
})

test('match conditions and narrower bindings', async () => {
  const { policy, binding, ask } = world()
  const validations = [{ expression: 'false' }]
  const matchConditions = [{ name: 'notBob', expression: 'request.userInfo.username != "bob"' }]
  binding()
  policy({ validations, matchConditions })
  assert.notEqual(await ask(), 'admitted')
  assert.equal(await ask({ user: { name: 'bob', groups: [] } }), 'admitted')
  policy({ validations, matchConditions: [{ name: 'bad', expression: 'object.no.such == 1' }] })
  assert.match(await ask(), /denied request: expression 'object.no.such == 1' resulted in error:/)
  policy({ validations })
  binding({ matchResources: { namespaceSelector: { matchLabels: { env: 'test' } } } })
  assert.equal(await ask(), 'admitted')
  binding({ matchResources: { namespaceSelector: { matchLabels: { env: 'prod' } } } })
  assert.notEqual(await ask(), 'admitted')
  binding({ matchResources: { resourceRules: [{ ...resourceRules[0], operations: ['DELETE'] }] } })
  assert.equal(await ask(), 'admitted')
})

test('actions: deny, warn, audit', async () => {
  const { policies, policy, binding } = world()
  policy({ validations: [{ expression: 'true' }, { expression: 'false', message: 'no' }] })
  binding({ validationActions: ['Warn', 'Audit'] })
  const given = attributes()
  await policies.validate(given)
  assert.deepEqual(given.warnings, ["Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': no"])
  assert.deepEqual(
    [...given.annotations!],
    [
      [
        'validation.policy.admission.k8s.io/validation_failure',
        '[{"message":"no","policy":"p","binding":"b","expressionIndex":1,"validationActions":["Warn","Audit"]}]',
      ],
    ],
  )
})

test('audit annotations', async () => {
  const { policies, policy, binding, ask } = world()
  binding()
  const auditAnnotations = [
    { key: 'size', valueExpression: '"size " + string(object.spec.size)' },
    { key: 'none', valueExpression: 'null' },
    { key: 'empty', valueExpression: '" "' },
  ]
  policy({ validations: [{ expression: 'true' }], auditAnnotations })
  const given = attributes()
  await policies.validate(given)
  assert.deepEqual([...given.annotations!], [['p/size', 'size 5']])
  policy({ validations: [], auditAnnotations: [{ key: 'bad', valueExpression: 'string(object.no.such)' }] })
  assert.match(await ask(), /denied request: expression 'string\(object.no.such\)' resulted in error/)
})

test('parameters', async () => {
  const { objects, policy, binding, ask } = world()
  const limit = (name: string, max: number, labels = {}, namespace = 'ns') =>
    objects.put(`/acme.io/limits/${namespace}/${name}`, { metadata: { name, namespace, labels }, max })
  const paramKind = { apiVersion: 'acme.io/v1', kind: 'Limit' }
  policy({ paramKind, validations: [{ expression: 'params == null || object.spec.size <= params.max' }] })
  binding()
  assert.equal(await ask(), 'admitted')
  binding({ paramRef: { name: 'small', parameterNotFoundAction: 'Deny' } })
  const missing = 'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction'
  assert.equal(await ask(), denied(missing))
  limit('small', 3)
  assert.match(await ask(), /denied request: failed expression: params == null/)
  limit('small', 7)
  assert.equal(await ask(), 'admitted')
  binding({ paramRef: { name: 'nope', parameterNotFoundAction: 'Allow' } })
  assert.equal(await ask(), 'admitted')
  limit('big', 100, { use: 'me' })
  limit('tiny', 1, { use: 'me' })
  binding({ paramRef: { selector: { matchLabels: { use: 'me' } }, parameterNotFoundAction: 'Deny' } })
  assert.match(await ask(), /denied request: failed expression/)
  binding({ paramRef: { name: 'small', namespace: 'elsewhere', parameterNotFoundAction: 'Deny' } })
  assert.equal(await ask(), denied(missing))
  binding({ paramRef: { name: 'small', parameterNotFoundAction: 'Deny' } })
  assert.equal(
    await ask({ namespace: '', type: { ...widgets, namespaced: false } }),
    denied(
      'failed to configure binding: cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
    ),
  )
  policy({ paramKind: { apiVersion: 'acme.io/v1', kind: 'Nope' }, validations: [{ expression: 'true' }] })
  assert.equal(
    await ask(),
    `widgets.acme.io "w" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'acme.io/v1, Kind=Nope'`,
  )
})

test('policies are not evaluated on policies, and a status write does not compile again', async () => {
  const { objects, policy, binding, ask } = world()
  binding()
  const all = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }]
  const written = policy({ matchConstraints: { resourceRules: all }, validations: [{ expression: 'false' }] })
  const group = 'admissionregistration.k8s.io'
  const type = {
    group,
    version: 'v1',
    kind: 'ValidatingAdmissionPolicy',
    resource: 'validatingadmissionpolicies',
    namespaced: false,
  }
  assert.equal(await ask({ type }), 'admitted')
  const sneaky = { ...written, spec: { validations: [{ expression: 'true' }] }, status: { observedGeneration: 1 } }
  objects.put(`${POLICIES}/p`, sneaky)
  assert.notEqual(await ask(), 'admitted')
})
