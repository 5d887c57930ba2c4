import { once } from 'node:events'
import { connect } from 'node:http2'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Case } from './harness/case.js'
import { CRDS, define } from './harness/crd.js'
import type { Loose } from './harness/http.js'
import { configMap, configMapsIn, secretsIn } from './harness/kinds.js'
import { conformance } from './harness/suite.js'

const PROTOBUF = 'application/vnd.kubernetes.protobuf'
const YAML = 'application/yaml'

type Field = readonly [number, string | Uint8Array | number | readonly Field[]]

/** Encodes a protobuf message of fields that are strings, bytes, numbers or messages. */
function message(fields: readonly Field[]): Buffer {
  return Buffer.concat(
    fields.flatMap(([number, value]) => {
      if (typeof value === 'number') return [varint(number << 3), varint(value)]
      const bytes =
        typeof value === 'string'
          ? Buffer.from(value)
          : value instanceof Uint8Array
            ? Buffer.from(value)
            : message(value)
      return [varint((number << 3) | 2), varint(bytes.length), bytes]
    }),
  )
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest])
    bytes.push((rest % 128) | 128)
  }
}

/** Encodes the protobuf envelope of Kubernetes. */
const envelope = (apiVersion: string, kind: string, fields: readonly Field[]): Buffer =>
  Buffer.concat([
    Buffer.from('k8s\0'),
    message([
      [
        1,
        [
          [1, apiVersion],
          [2, kind],
        ],
      ],
      [2, message(fields)],
      [3, ''],
      [4, ''],
    ]),
  ])

const meta = (name: string, ...more: Field[]): Field => [1, [[1, name], ...more]]
const entry = (key: string, value: string): readonly Field[] => [
  [1, key],
  [2, value],
]

const bare = (body: Loose): Loose =>
  typeof body === 'string'
    ? body
        .replace(/(uid|resourceVersion|creationTimestamp): .*/g, '$1: X')
        .replace(/^ +time: .*$/gm, '')
        .replace(/managedFields:[\s\S]*?(?=\n {2}\w|\n\w)/, 'managedFields: X')
    : body

async function raw(t: Case, path: string, headers: Record<string, string>) {
  return t.admin.send({ method: 'GET', path, headers })
}

conformance('wire', {
  'protobuf: create and update a ConfigMap': async (t) => {
    const all = configMapsIn(await t.namespace())
    const body = envelope('v1', 'ConfigMap', [
      meta('a', [11, entry('l', 'x')], [12, entry('n', 'y')]),
      [2, entry('k', 'v')],
      [
        3,
        [
          [1, 'b'],
          [2, new Uint8Array([0, 255])],
        ],
      ],
    ])
    await t.post(all, body, { type: PROTOBUF })
    await t.put(`${all}/a`, envelope('v1', 'ConfigMap', [meta('a'), [2, entry('k', 'w')], [4, 1]]), { type: PROTOBUF })
  },
  'protobuf: other kinds': async (t) => {
    const ns = await t.namespace()
    await t.post(
      secretsIn(ns),
      envelope('v1', 'Secret', [
        meta('a'),
        [
          2,
          [
            [1, 'k'],
            [2, new Uint8Array([104, 105])],
          ],
        ],
        [3, 'x.io/t'],
      ]),
      { type: PROTOBUF },
    )
    await t.post('/api/v1/namespaces', envelope('v1', 'Namespace', [meta(`pb-${t.id}`), [2, []], [3, []]]), {
      type: PROTOBUF,
      pick: (body) => body.kind,
    })
    await t.post(
      `/apis/coordination.k8s.io/v1/namespaces/${ns}/leases`,
      envelope('coordination.k8s.io/v1', 'Lease', [
        meta('a'),
        [
          2,
          [
            [1, 'me'],
            [2, 15],
            [
              4,
              [
                [1, 1_600_000_000],
                [2, 5000],
              ],
            ],
            [5, 1],
          ],
        ],
      ]),
      { type: PROTOBUF },
    )
    await t.post(
      `/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/roles`,
      envelope('rbac.authorization.k8s.io/v1', 'Role', [
        meta('a'),
        [
          2,
          [
            [1, 'get'],
            [1, 'list'],
            [2, ''],
            [3, 'secrets'],
          ],
        ],
      ]),
      { type: PROTOBUF },
    )
    await t.post(
      '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      envelope('authorization.k8s.io/v1', 'SelfSubjectAccessReview', [
        [1, []],
        [
          2,
          [
            [
              1,
              [
                [1, ns],
                [2, 'get'],
                [5, 'configmaps'],
              ],
            ],
          ],
        ],
      ]),
      { type: PROTOBUF, pick: (body) => [body.kind, body.spec, body.status.allowed] },
    )
  },
  'protobuf: a CRD with rules': async (t) => {
    const group = `pb-${t.id}.example.com`
    const rule = (text: string, ...more: Field[]): Field => [44, [[1, text], ...more]]
    const spec: Field[] = [[5, 'object'], rule('true', [2, 'first']), rule('oldSelf.hasValue()', [3, '"x"'], [6, 1])]
    const names: Field[] = [
      [1, 'widgets'],
      [4, 'Widget'],
    ]
    const schema: Field[] = [
      [5, 'object'],
      [
        29,
        [
          [1, 'spec'],
          [2, spec],
        ],
      ],
    ]
    const version: Field[] = [
      [1, 'v1'],
      [2, 1],
      [3, 1],
      [4, [[1, schema]]],
    ]
    const crd = envelope('apiextensions.k8s.io/v1', 'CustomResourceDefinition', [
      meta(`widgets.${group}`),
      [
        2,
        [
          [1, group],
          [3, names],
          [4, 'Cluster'],
          [7, version],
        ],
      ],
    ])
    await t.post(CRDS, crd, { type: PROTOBUF, query: { dryRun: 'All' }, pick: (body) => body.spec?.versions ?? body })
  },
  'protobuf: delete options': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.must('POST', all, { body: configMap('a') })
    await t.delete(
      `${all}/a`,
      envelope('v1', 'DeleteOptions', [
        [4, 'Orphan'],
        [5, 'All'],
      ]),
      { type: PROTOBUF, pick: (body) => [body.kind, body.status ?? body.metadata?.finalizers] },
    )
    await t.get(`${all}/a`, { pick: (body) => body.kind })
  },
  'protobuf: bodies that are none': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.post(all, 'x', { type: PROTOBUF })
    await t.post(all, '', { type: PROTOBUF })
    await t.post(all, envelope('v1', 'Secret', [meta('a')]), { type: PROTOBUF })
    await t.post(all, envelope('v9', 'ConfigMap', [meta('a')]), { type: PROTOBUF })
  },
  'protobuf: asked for, with JSON as second choice': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.must('POST', all, { body: configMap('a', { k: 'v' }) })
    const { status, headers } = await raw(t, `${all}/a`, { accept: `${PROTOBUF},application/json` })
    t.see('answer', { status, understood: [PROTOBUF, 'application/json'].includes(headers['content-type'] ?? '') })
  },
  'yaml: create, update, read': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.post(
      all,
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels: {mine: "yes"}\ndata:\n  k: |\n    two\n    lines\n  quoted: "5"\n',
      { type: YAML },
    )
    await t.put(`${all}/a`, '# a comment\nmetadata: {name: a}\ndata: {k: plain}\n', { type: YAML })
    await t.get(`${all}/a`, { accept: YAML, pick: bare })
    await t.get(all, {
      accept: YAML,
      query: { labelSelector: 'none' },
      pick: (text) => String(text).replace(/"?\d+"?/g, 'N'),
    })
    await t.get(`${all}/none`, { accept: YAML })
  },
  'yaml: numbers, booleans and nulls are those of YAML 1.1': async (t) => {
    const widgets = await define(t)
    const all = widgets.path(await t.namespace())
    const spec = [
      'a: yes',
      'b: "yes"',
      'c: 010',
      'd: 0x1F',
      'e: 1e3',
      'f: ~',
      'g: on',
      'h: 1_000',
      'i: 2020-01-01',
      'j: .5',
      'k: 5',
      'l: True',
      'm: null',
      'o: 12:30',
      'p: "010"',
    ]
    await t.post(
      all,
      `apiVersion: ${widgets.group}/v1\nkind: Widget\nmetadata:\n  name: a\nspec:\n${spec.map((line) => `  ${line}\n`).join('')}`,
      { type: YAML, pick: (body) => body.spec ?? body },
    )
  },
  'yaml: anchors, merges, flow, several documents': async (t) => {
    const widgets = await define(t)
    const all = widgets.path(await t.namespace())
    const head = `apiVersion: ${widgets.group}/v1\nkind: Widget\nmetadata:\n  name: a\n`
    await t.post(all, `${head}spec:\n  base: &b {x: 1}\n  copy: *b\n  merged:\n    <<: *b\n    z: 2\n`, {
      type: YAML,
      query: { dryRun: 'All' },
      pick: (body) => body.spec ?? body,
    })
    await t.post(all, `${head}spec: {a: [1, two, {three: 3}], "b": 'c'}\n`, {
      type: YAML,
      query: { dryRun: 'All' },
      pick: (body) => body.spec ?? body,
    })
    await t.post(all, `---\n${head}---\n${head}`, { type: YAML, query: { dryRun: 'All' }, pick: (body) => body.kind })
    await t.post(all, JSON.stringify(widgets.object('a')), {
      type: YAML,
      query: { dryRun: 'All' },
      pick: (body) => body.kind,
    })
  },
  'yaml: patches': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.must('POST', all, { body: configMap('a', { k: 'v' }) })
    await t.ask('PATCH', `${all}/a`, { body: 'data:\n  k: w\n', type: YAML })
    await t.ask('PATCH', `${all}/a`, { body: 'data:\n  k: w\n', type: 'application/merge-patch+json' })
  },
  'yaml: what is malformed': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.post(all, 'a: [', { type: YAML, pick: ({ reason, code }) => ({ reason, code }) })
    await t.post(all, '\t- x', { type: YAML, pick: ({ reason, code }) => ({ reason, code }) })
    await t.post(all, 'just text', { type: YAML, pick: ({ reason, code }) => ({ reason, code }) })
  },
  'yaml: no watch': async (t) => {
    await t.get(configMapsIn(await t.namespace()), {
      accept: YAML,
      query: { watch: true, timeoutSeconds: 1 },
      pick: (body, { status }) => (status === 200 ? 'a stream' : body),
    })
  },
  'gzip: big answers are compressed when asked for': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.must('POST', all, { body: configMap('big', { k: 'x'.repeat(200_000) }) })
    await t.must('POST', all, { body: configMap('small') })
    const big = await raw(t, `${all}/big`, { 'accept-encoding': 'gzip' })
    t.see('big', {
      encoding: big.headers['content-encoding'],
      vary: big.headers['vary'],
      whole: JSON.parse(gunzipSync(big.bytes).toString('utf8')).data.k.length,
    })
    const small = await raw(t, `${all}/small`, { 'accept-encoding': 'gzip' })
    t.see('small', { encoding: small.headers['content-encoding'] ?? null })
    const plain = await raw(t, `${all}/big`, {})
    t.see('not asked for', { encoding: plain.headers['content-encoding'] ?? null })
  },
  'gzip: compressed requests are not understood': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.post(all, gzipSync(JSON.stringify(configMap('a'))), {
      headers: { 'content-encoding': 'gzip' },
      pick: ({ reason, code }) => ({ reason, code }),
    })
  },
  'limits: bodies': async (t) => {
    const widgets = await define(t)
    const all = widgets.path(await t.namespace())
    const sized = (bytes: number) => widgets.object('a', { spec: { s: 'x'.repeat(bytes) } })
    await t.post(all, sized(3 * 1024 * 1024 + 1), { pick: (body) => body })
    await t.post(all, sized(1_000_000), { query: { dryRun: 'All' }, pick: (body) => body.kind })
    const operations = Array.from({ length: 10_001 }, () => ({ op: 'add', path: '/spec/x', value: 1 }))
    await t.must('POST', all, { body: widgets.object('a', { spec: {} }) })
    await t.jsonPatch(`${all}/a`, operations)
    await t.jsonPatch(`${all}/a`, operations.slice(0, 10_000), { pick: (body) => body.spec })
  },
  'limits: nesting': async (t) => {
    const widgets = await define(t)
    const all = widgets.path(await t.namespace())
    const nested = (depth: number) =>
      `{"apiVersion":"${widgets.group}/v1","kind":"Widget","metadata":{"name":"a"},"spec":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`
    await t.post(all, nested(500), { query: { dryRun: 'All' }, pick: (body) => body.kind })
    await t.post(all, nested(20_000), { query: { dryRun: 'All' }, pick: ({ reason, code }) => ({ reason, code }) })
    await t.post(
      all,
      `apiVersion: ${widgets.group}/v1\nkind: Widget\nmetadata: {name: a}\nspec: ${'['.repeat(20_000)}`,
      { type: YAML, query: { dryRun: 'All' }, pick: ({ reason, code }) => ({ reason, code }) },
    )
  },
  'limits: a YAML bomb': async (t) => {
    const all = configMapsIn(await t.namespace())
    const levels = 'abcdefghi'.split('').map(
      (name, i, names) =>
        `${name}: &${name} [${Array(9)
          .fill(i === 0 ? '"lol"' : `*${names[i - 1]}`)
          .join(',')}]`,
    )
    await t.post(all, `metadata: {name: x}\n${levels.join('\n')}\n`, {
      type: YAML,
      pick: ({ reason, code, message: text }) => ({ reason, code, excessive: /excessive aliasing/.test(text) }),
    })
  },
  'HTTP/2: requests and a watch on one connection': async (t) => {
    const all = configMapsIn(await t.namespace())
    const { ca, cert, key, token } = t.admin.credentials
    const session = connect(t.target.url, { ca, cert, key })
    t.cleanup(() => session.destroy())
    session.on('error', () => {})
    const head = { ...(token ? { authorization: `Bearer ${token}` } : {}), accept: 'application/json' }
    const { resourceVersion } = (await t.must('GET', all)).body.metadata
    const watch = session.request({
      ':path': `${all}?watch=true&labelSelector=mine&resourceVersion=${resourceVersion}`,
      ...head,
    })
    watch.on('error', () => {})
    const [headers] = (await once(watch, 'response')) as [Loose]
    t.see('watch', { status: headers[':status'], type: headers['content-type'] })
    const post = session.request({ ':method': 'POST', ':path': all, 'content-type': 'application/json', ...head })
    post.end(JSON.stringify(configMap('a', {}, { labels: { mine: 'yes' } })))
    const [answer] = (await once(post, 'response')) as [Loose]
    t.see('create', answer[':status'])
    const [chunk] = (await once(watch, 'data')) as [Buffer]
    const event = JSON.parse(chunk.toString('utf8'))
    t.see('event', [event.type, event.object.metadata.name])
  },
  'headers of every answer': async (t) => {
    const all = configMapsIn(await t.namespace())
    const { headers } = await raw(t, all, {})
    t.see('headers', {
      cache: headers['cache-control'],
      type: headers['content-type'],
      audit: typeof headers['audit-id'],
    })
    const own = await raw(t, all, { 'audit-id': `audit-${t.id}` })
    t.see('audit id', own.headers['audit-id'])
  },
  pretty: async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.must('POST', all, { body: configMap('a', { k: 'v' }) })
    const indented = async (query: string, agent: string) =>
      (await raw(t, `${all}/a${query}`, { 'user-agent': agent })).text.includes('\n  "')
    t.see('indented', {
      asked: await indented('?pretty=true', 'x'),
      not: await indented('?pretty=false', 'curl/8'),
      curl: await indented('', 'curl/8.0'),
      client: await indented('', 'kubectl/1'),
    })
  },
  'the words behind the status, which many clients show': async (t) => {
    const all = configMapsIn(await t.namespace())
    const words = async (method: string, path: string, body?: unknown) => {
      const answer = await t.admin.open({ method, path, body })
      answer.resume()
      return `${answer.statusCode} ${answer.statusMessage}`
    }
    t.see('words', {
      made: await words('POST', all, configMap('a')),
      again: await words('POST', all, configMap('a')),
      bad: await words('POST', all, '{'),
      absent: await words('GET', `${all}/absent`),
      invalid: await words('POST', all, configMap('UPPER')),
      large: await words('POST', all, configMap('large', { a: 'x'.repeat(3_200_000) })),
    })
  },
  'people with curl get errors and discovery readable, too': async (t) => {
    const all = configMapsIn(await t.namespace())
    const paths = [
      `${all}/absent`,
      '/api',
      '/apis',
      '/apis/rbac.authorization.k8s.io',
      '/apis/rbac.authorization.k8s.io/v1',
    ]
    for (const path of paths) {
      const { text } = await raw(t, path, { 'user-agent': 'curl/8.0' })
      t.see(path, { indented: text.startsWith('{\n  "kind"'), end: text.slice(-2) })
    }
    t.see('asked not to', (await raw(t, `${all}/absent?pretty=false`, { 'user-agent': 'curl/8.0' })).text.slice(0, 7))
    t.see('asked to', (await raw(t, `${all}/absent?pretty=true`, { 'user-agent': 'x' })).text.slice(0, 7))
  },
  'the root tells what paths there are': async (t) => {
    const known =
      /^\/(api|apis|version|metrics|openapi\/v2|openid\/v1\/jwks|(healthz|livez|readyz)(\/ping)?)$|rbac[.]authorization|api\/v1/
    await t.get('/', { pick: (body) => ({ ...body, paths: body.paths.filter((path: string) => known.test(path)) }) })
    t.see('indented', (await raw(t, '/', {})).text.startsWith('{\n  "paths": [\n'))
    await t.get('/', { accept: 'application/yaml', pick: (body) => Object.keys(body) })
  },
  'nothing is served where two slashes meet': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.must('POST', all, { body: configMap('a') })
    await t.get(`/${all}/a`)
    await t.get(`${all}//a`)
    await t.get(all.replace('/v1/', '/v1//'))
    await t.get('/apis//rbac.authorization.k8s.io/v1/clusterroles/view')
    await t.get(`${all}/a/`, { pick: (body) => body.kind })
  },
  'selectors and headers may be long': async (t) => {
    const all = configMapsIn(await t.namespace())
    const labelSelector = `a notin (${Array.from({ length: 4000 }, (_, i) => `value-${i}`).join(',')}),mine`
    const { status, body } = await t.quiet('GET', all, { query: { labelSelector } })
    t.see('selector', { status, items: body.items })
    const { status: other } = await t.quiet('GET', all, { headers: { 'x-long': 'x'.repeat(100_000) } })
    t.see('header', other)
  },
})
