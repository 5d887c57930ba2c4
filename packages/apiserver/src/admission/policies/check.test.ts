import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, ResourceType } from '@crosstie/kube'
import type { JSONSchemaProps } from '@crosstie/kube/schema'
import { checkExpression, checkTypes } from './check.js'

test('expressions are checked when a policy is written', () => {
  const scope = { params: false, authorizer: true, variables: [] }
  const check = (expression: string, use: Parameters<typeof checkExpression>[1], more = {}) =>
    checkExpression(expression, use, { ...scope, ...more })
  assert.equal(check('object.spec.x == 1', 'validation'), undefined)
  assert.equal(check('object.spec.x', 'validation'), 'must evaluate to bool but got dyn')
  assert.equal(check('1', 'message'), 'must evaluate to string but got int')
  assert.equal(check('1', 'auditAnnotation'), 'must evaluate to one of [string null_type] but got int')
  assert.equal(check('null', 'auditAnnotation'), undefined)
  assert.equal(check('1', 'variable'), undefined)
  assert.match(
    check('params.x == 1', 'validation') ?? '',
    /^compilation failed: ERROR: <input>:1:1: undeclared reference to 'params'/,
  )
  assert.equal(check('params.x == 1', 'validation', { params: true }), undefined)
  assert.match(
    check('authorizer.path("/x").check("get").allowed()', 'validation', { authorizer: false }) ?? '',
    /undeclared reference to 'authorizer'/,
  )
  const variables = [{ name: 'n', expression: '1' }]
  assert.equal(check('variables.n == 1', 'validation', { variables }), undefined)
  assert.match(check('variables.n == "1"', 'validation', { variables }) ?? '', /found no matching overload/)
  assert.match(check('variables.m == 1', 'validation', { variables }) ?? '', /undefined field 'm'/)
})

const widgets: ResourceType = { group: 'acme.io', version: 'v1', kind: 'Widget', resource: 'widgets', namespaced: true }
const schema: JSONSchemaProps = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer' },
        names: { type: 'array', items: { type: 'string' } },
        any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        port: { 'x-kubernetes-int-or-string': true },
      },
    },
  },
}
const kinds = {
  resolve: (group: string, version: string, resource: string) =>
    group === 'acme.io' && version === 'v1' && resource === 'widgets' ? widgets : undefined,
  find: () => undefined,
  schema: () => schema,
}
const policy = (expression: string, rule: object = {}, more: object = {}): KubeObject => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: 'p' },
  spec: {
    matchConstraints: {
      resourceRules: [{ apiGroups: ['acme.io'], apiVersions: ['v1'], resources: ['widgets'], ...rule }],
    },
    validations: [{ expression }],
    ...more,
  },
})

test('expressions that do not match the schema cause warnings', () => {
  const fine = [
    'object.spec.size > 1',
    'object.spec.names.all(n, n.startsWith("a"))',
    'object.spec.any.what.ever == 1',
    'object.spec.labels["a"] == "b"',
    'object.spec.port == 80 || object.spec.port == "http"',
    'object.metadata.name == "x" && object.metadata.creationTimestamp < timestamp("2030-01-01T00:00:00Z")',
    'oldObject == null || oldObject.spec.size == object.spec.size',
    'request.userInfo.username == "x"',
  ]
  for (const expression of fine) assert.deepEqual(checkTypes(policy(expression), kinds), [], expression)
  assert.deepEqual(checkTypes(policy('object.spec.sice > 1'), kinds), [
    {
      fieldRef: 'spec.validations[0].expression',
      warning:
        "acme.io/v1, Kind=Widget: ERROR: <input>:1:12: undefined field 'sice'\n | object.spec.sice > 1\n | ...........^\n",
    },
  ])
  const reported = checkTypes(
    policy('true', {}, { validations: [{ expression: 'true', messageExpression: 'object.x' }] }),
    kinds,
  )
  assert.equal(reported[0]?.fieldRef, 'spec.validations[0].messageExpression')
  const variables = [{ name: 's', expression: 'object.spec.size' }]
  assert.match(
    checkTypes(policy('variables.s == "a"', {}, { variables }), kinds)[0]?.warning ?? '',
    /no matching overload/,
  )
  assert.deepEqual(checkTypes(policy('object.spec.sice > 1', { apiGroups: ['*'] }), kinds), [])
  assert.deepEqual(checkTypes(policy('object.spec.sice > 1', { resources: ['gadgets'] }), kinds), [])
})
