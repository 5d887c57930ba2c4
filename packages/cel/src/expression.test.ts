import assert from 'node:assert/strict'
import { test } from 'node:test'
import { admissionEnvironment } from './admission.js'
import { authorizerInput, compileExpression, ExpressionEnvironment, requestResourceInput } from './expression.js'
import type { AuthorizationQuestion } from './library/authorizer.js'
import { CompileError } from './program.js'

const deployment = { metadata: { name: 'web', labels: { tier: 'front' } }, spec: { replicas: 3, paused: null } }
const request = { operation: 'UPDATE', userInfo: { username: 'ada', groups: ['ops'] }, namespace: 'shop' }

interface Case {
  readonly because: string
  readonly expression: string
  readonly want: unknown
}

const cases: Record<string, Case> = {
  Dynamic: { because: 'objects have no declared fields', expression: 'object.spec.replicas + 1', want: 4 },
  Missing: { because: 'a missing key is an error', expression: 'object.spec.nope', want: 'no such key: nope' },
  Null: { because: 'null is a value of plain data', expression: 'object.spec.paused == null', want: true },
  Create: { because: 'oldObject is null on create', expression: 'oldObject == null', want: true },
  Reserved: { because: 'a field may have a reserved name', expression: 'request.namespace', want: 'shop' },
  Lists: {
    because: 'lists are returned as arrays',
    expression: 'request.userInfo.groups.map(g, g + "!")',
    want: ['ops!'],
  },
  Maps: { because: 'maps are returned as objects', expression: '{"a": 1.5, "b": 2.0}', want: { a: 1.5, b: 2 } },
  Times: {
    because: 'times are returned as text',
    expression: 'timestamp("2020-01-01T00:00:00Z")',
    want: '2020-01-01T00:00:00Z',
  },
  Optionals: { because: 'null is returned as null', expression: 'object.?status', want: null },
  Bytes: { because: 'bytes are returned in base64', expression: 'b"hi"', want: 'aGk=' },
}

test('expressions of admission', () => {
  const environment = admissionEnvironment()
  const inputs = environment.inputs({ object: deployment, oldObject: null, request })
  for (const [name, { because, expression, want }] of Object.entries(cases)) {
    const outcome = compileExpression(expression, environment).evaluate(inputs)
    assert.deepEqual('error' in outcome ? outcome.error : outcome.value, want, `${name}: ${because}`)
  }
})

test('an expression cannot use undeclared names', () => {
  const without = admissionEnvironment()
  assert.throws(() => without.compile('params.x == 1'), /undeclared reference to 'params' \(in container ''\)/)
  assert.throws(() => without.compile('authorizer.path("/a")'), CompileError)
  assert.throws(() => without.compile('request.nope'), /undefined field 'nope'/)
  assert.equal(admissionEnvironment({ params: true }).compile('params.x == 1').outputType, 'bool')
})

test('only stored expressions may use features that are new in this release', () => {
  assert.throws(() => admissionEnvironment().compile('[2, 1].sort() == [1, 2]'), /undeclared reference to 'sort'/)
  assert.throws(() => admissionEnvironment().compile('[2, 1].sortBy(e, -e)'), CompileError)
  const stored = admissionEnvironment({ stored: true })
  assert.deepEqual(stored.compile('[2, 1, 3].sortBy(e, -e)').evaluate(stored.inputs({})), {
    value: [3, 2, 1],
    cost: 74,
  })
})

test('composed variables are evaluated once, on first use, and charged to the expression that used them', () => {
  const first = admissionEnvironment().compose('replicas', 'object.spec.replicas')
  const { environment } = first.environment.compose('many', 'variables.replicas > 2')
  const inputs = environment.inputs({ object: deployment })
  const program = environment.compile('variables.many && variables.many')
  const once = program.evaluate(inputs)
  const again = program.evaluate(inputs)
  assert.ok('value' in once && 'value' in again && once.value === true && again.value === true)
  assert.ok(once.cost > again.cost, 'both variables are cached the second time')
  assert.equal(environment.compile('variables.replicas').outputType, 'dyn')
  assert.throws(() => environment.compile('variables.later'), /undefined field 'later'/)
})

test('a failed composed variable is reported where it is used', () => {
  const broken = admissionEnvironment().compose('a', 'nope')
  assert.match(broken.error ?? '', /^compilation failed: ERROR: <input>:1:1: undeclared reference to 'nope'/)
  const { environment } = admissionEnvironment().compose('a', 'object.nope')
  const outcome = environment.compile('variables.a == 1').evaluate(environment.inputs({ object: {} }))
  assert.equal('error' in outcome && outcome.error, 'composited variable "a" fails to evaluate: no such key: nope')
})

test('the authorizer receives the check that the expression describes', () => {
  const asked: AuthorizationQuestion[] = []
  const check = (question: AuthorizationQuestion) => {
    asked.push(question)
    return { allowed: question.verb === 'get', reason: 'because' }
  }
  const environment = admissionEnvironment({ authorizer: true })
  const resource = { group: 'apps', resource: 'deployments', namespace: 'shop', name: 'web' }
  const inputs = environment.inputs({
    authorizer: authorizerInput(check),
    'authorizer.requestResource': requestResourceInput(check, resource),
  })
  const ask = (expression: string) => {
    const outcome = environment.compile(expression).evaluate(inputs)
    return 'error' in outcome ? outcome.error : outcome.value
  }
  assert.equal(ask('authorizer.path("/healthz").check("get").allowed()'), true)
  assert.equal(
    ask('authorizer.group("").resource("pods").subresource("log").namespace("a").check("list").allowed()'),
    false,
  )
  assert.equal(
    ask('authorizer.serviceAccount("ns", "bot").group("").resource("pods").check("get").reason()'),
    'because',
  )
  assert.equal(ask('authorizer.requestResource.check("get").errored()'), false)
  assert.equal(
    ask('authorizer.serviceAccount("NS", "bot").path("/").check("get").allowed()'),
    'Invalid service account namespace',
  )
  assert.equal(ask('authorizer.path(" ").check("get").allowed()'), 'path must not be empty')
  assert.deepEqual(asked, [
    { verb: 'get', path: '/healthz' },
    { verb: 'list', group: '', resource: 'pods', subresource: 'log', namespace: 'a' },
    { verb: 'get', group: '', resource: 'pods', serviceAccount: { namespace: 'ns', name: 'bot' } },
    { verb: 'get', ...resource },
  ])
})

test('evaluation stops at the cost limit', () => {
  const environment = ExpressionEnvironment.create({ variables: { l: { list: 'int' } } })
  const program = environment.compile('l.all(a, l.all(b, a + b >= 0 || false))')
  const inputs = environment.inputs({ l: Array.from({ length: 100 }, (_, i) => i) })
  const stopped = program.evaluate(inputs, { costLimit: 1000 })
  assert.equal('error' in stopped && stopped.error, 'operation cancelled: actual cost limit exceeded')
  assert.ok(stopped.cost < 1100)
  assert.ok('value' in program.evaluate(inputs))
})

test('an expression can afford two authorization checks', () => {
  const environment = admissionEnvironment({ authorizer: true })
  const inputs = environment.inputs({ authorizer: authorizerInput(() => ({ allowed: true })) })
  const checks = (count: number) =>
    Array.from({ length: count }, () => 'authorizer.path("/").check("get").allowed()').join(' && ')
  assert.ok('value' in environment.compile(checks(2)).evaluate(inputs))
  assert.ok('error' in environment.compile(checks(3)).evaluate(inputs))
})

test('only own properties of plain data are keys', () => {
  const environment = ExpressionEnvironment.create({ variables: { x: 'dyn' } })
  const run = (expression: string, x: unknown) => environment.compile(expression).evaluate(environment.inputs({ x }))
  assert.deepEqual(run('has(x.constructor)', {}), { value: false, cost: 1 })
  assert.deepEqual(run('x.__proto__ == 1', JSON.parse('{"__proto__": 1}')), { value: true, cost: 3 })
  assert.deepEqual(run('{"__proto__": x}', 1), { value: JSON.parse('{"__proto__": 1}'), cost: 31 })
})

test('expressions cannot create values beyond the size limits', () => {
  const environment = ExpressionEnvironment.create({ variables: { s: 'string', l: { list: 'string' } }, stored: true })
  const inputs = environment.inputs({ s: 'x'.repeat(100_000), l: Array.from({ length: 20_000 }, () => 'word') })
  const doubled = (times: number) => Array.from({ length: times }, (_, i) => `.optMap(a${i}, a${i} + a${i})`).join('')
  const greedy = [
    `optional.of(l)${doubled(9)}.value().size() > 0`,
    `optional.of(s)${doubled(9)}.value().size() > 0`,
    's.replace("", s).size() > 0',
    's.split("").join(s).size() > 0',
    'lists.range(9223372036854775807).size() > 0',
    'l.map(a, l.map(b, l.map(c, c))).size() > 0',
  ]
  assert.throws(() => environment.compile(`optional.of(l)${doubled(40)}.hasValue()`), /node count exceeds limit/)
  for (const expression of greedy) {
    const outcome = environment.compile(expression).evaluate(inputs)
    assert.match('error' in outcome ? outcome.error : '', /actual cost limit exceeded/, expression)
  }
})
