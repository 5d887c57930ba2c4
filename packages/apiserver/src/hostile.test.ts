import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { type RequestOptions, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import fc from 'fast-check'
import { type Server, startServer } from './server.js'

let dataDir: string
let server: Server
const complaints: string[] = []

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'crosstie-hostile-'))
  const auditLog = join(dataDir, 'audit.log')
  server = await startServer({ dataDir, host: '127.0.0.1', port: 0, auditLog, log: (line) => complaints.push(line) })
  const { status } = await send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd)
  assert.equal(status, 201)
})

after(async () => {
  await server?.close()
  await rm(dataDir, { recursive: true, force: true })
  // A 4xx is an error of the client. Anything else in the log is an error of the server.
  assert.deepEqual(complaints, [], 'there was no internal error')
})

interface Answer {
  readonly status: number
  readonly body: string
}

function send(
  method: string,
  path: string,
  body?: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const { ca, client } = server.adminAccess()
  const options: RequestOptions = { method, ca, cert: client.cert, key: client.key, headers, path, agent: false }
  const { hostname, port } = new URL(server.url)
  return new Promise((resolve, reject) => {
    const outgoing = request({ ...options, hostname, port }, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('end', () =>
        resolve({ status: incoming.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }),
      )
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

/**
 * A head that is too long is refused while it still comes in. Whether the answer is read before the connection is found
 * closed is a matter of time; both are a refusal.
 */
function cutShort(answer: Promise<Answer>): Promise<Answer> {
  return answer.catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') throw error
    return { status: 431, body: '' }
  })
}

const json = { 'content-type': 'application/json' }
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const THINGS = '/apis/hostile.example.org/v1/things'

const crd = JSON.stringify({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.hostile.example.org' },
  spec: {
    group: 'hostile.example.org',
    scope: 'Cluster',
    names: { plural: 'things', kind: 'Thing' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
})

const nested = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth)

const bad: Record<string, { because: string; send: () => Promise<Answer>; want: number | number[] }> = {
  NotJson: { because: 'the body is not JSON', send: () => send('POST', CONFIG_MAPS, '{', json), want: 400 },
  Empty: { because: 'there is no body', send: () => send('POST', CONFIG_MAPS, '', json), want: 400 },
  Null: { because: 'null is not an object', send: () => send('POST', CONFIG_MAPS, 'null', json), want: [400, 422] },
  Array: { because: 'a list is not an object', send: () => send('POST', CONFIG_MAPS, '[]', json), want: 400 },
  DeepJson: {
    because: 'a hundred thousand levels would overflow a stack',
    send: () => send('POST', CONFIG_MAPS, `{"metadata":${nested('{"a":', '}', 1)}${nested('[', ']', 100_000)}}`, json),
    want: 400,
  },
  DeepJsonInCustomResource: {
    because: 'values below preserve-unknown-fields are not pruned',
    send: () => send('POST', THINGS, `{"metadata":{"name":"deep"},"spec":${nested('[', ']', 9_000)}}`, json),
    want: [201, 400],
  },
  DeepYaml: {
    because: 'YAML nests as well',
    send: () => send('POST', CONFIG_MAPS, `data: ${nested('[', ']', 50_000)}`, { 'content-type': 'application/yaml' }),
    want: 400,
  },
  BillionLaughs: {
    because: 'aliases of aliases grow without a limit',
    send: () => send('POST', CONFIG_MAPS, laughs(), { 'content-type': 'application/yaml' }),
    want: [400, 413, 422],
  },
  TooLarge: {
    because: 'more than three mebibytes',
    send: () => send('POST', CONFIG_MAPS, Buffer.alloc(4 * 1024 * 1024, 0x20), json),
    want: 413,
  },
  WrongContentType: {
    because: 'the content type is not supported',
    send: () => send('POST', CONFIG_MAPS, 'x', { 'content-type': 'text/plain' }),
    want: 415,
  },
  WrongAccept: {
    because: 'the type is not supported',
    send: () => send('GET', CONFIG_MAPS, undefined, { accept: 'image/png' }),
    want: 406,
  },
  BadLabelSelector: {
    because: 'it does not parse',
    send: () => send('GET', `${CONFIG_MAPS}?labelSelector=a%20in%20(`),
    want: 400,
  },
  BadFieldSelector: {
    because: 'no such field',
    send: () => send('GET', `${CONFIG_MAPS}?fieldSelector=a.b=c`),
    want: 400,
  },
  BadContinue: { because: 'not a token', send: () => send('GET', `${CONFIG_MAPS}?continue=%00zz`), want: 400 },
  ContinueOutside: {
    because: 'a token must not address another kind',
    send: () => send('GET', `${CONFIG_MAPS}?continue=${token('../../secrets/x\u0000')}`),
    want: 400,
  },
  BadLimit: { because: 'no number', send: () => send('GET', `${CONFIG_MAPS}?limit=many`), want: 400 },
  BadRevision: {
    because: 'no number',
    send: () => send('GET', `${CONFIG_MAPS}?resourceVersion=now`),
    want: [400, 422],
  },
  BadPatch: {
    because: 'an object is not a JSON patch',
    send: () =>
      send('PATCH', `${CONFIG_MAPS}/kube-root-ca.crt`, '{}', { 'content-type': 'application/json-patch+json' }),
    want: 400,
  },
  UnknownPath: { because: 'nothing there', send: () => send('GET', '/nothing/here'), want: 404 },
  UnknownResource: {
    because: 'pods need nodes',
    send: () => send('GET', '/api/v1/namespaces/default/pods'),
    want: 404,
  },
  OddMethod: { because: 'no such verb', send: () => send('PROPFIND', CONFIG_MAPS), want: [400, 405] },
  BadEscape: { because: 'no such character', send: () => send('GET', `${CONFIG_MAPS}/%zz`), want: [400, 404] },
  Traversal: {
    because: 'names are not paths',
    send: () => send('GET', `${CONFIG_MAPS}/..%2f..%2fsecrets`),
    want: [400, 404],
  },
}

const yaml = { 'content-type': 'application/yaml' }
const jsonPatch = { 'content-type': 'application/json-patch+json' }
const thing = (name: string, spec: string) =>
  `{"apiVersion":"hostile.example.org/v1","kind":"Thing","metadata":{"name":"${name}"},"spec":${spec}}`
const deep = (depth: number, leaf = '{}') => '{"a":'.repeat(depth) + leaf + '}'.repeat(depth)

Object.assign(bad, {
  AliasesNest: {
    because: 'each line is shallow, but together they nest deeply',
    send: () => send('POST', CONFIG_MAPS, deepAliases(), yaml),
    want: 400,
  },
  MergesNest: {
    because: 'merge keys nest, too',
    send: () => send('POST', CONFIG_MAPS, deepMerges(), yaml),
    want: 400,
  },
  ManyRepeatedKeys: {
    because: 'each complaint searches for its line',
    send: () => send('POST', `${CONFIG_MAPS}?fieldValidation=Strict`, 'data: {}\n'.repeat(50_000), yaml),
    want: 400,
  },
  CopyBomb: {
    because: 'every copy doubles the object',
    send: () => send('PATCH', `${CONFIG_MAPS}/kube-root-ca.crt`, copyBomb(), jsonPatch),
    want: 422,
  },
  ManyOperations: {
    because: 'more than ten thousand operations',
    send: () =>
      send('PATCH', `${CONFIG_MAPS}/kube-root-ca.crt`, JSON.stringify(Array(20_000).fill({ op: 'test' })), jsonPatch),
    want: 413,
  },
  LongSelector: {
    because: 'a selector may be long, but a URL is limited',
    send: () => cutShort(send('GET', `${CONFIG_MAPS}?labelSelector=a%20in%20(${'b,'.repeat(500_000)}c)`)),
    want: [400, 414, 431],
  },
  ManyParameters: {
    because: 'the number of parameters is limited',
    send: () =>
      cutShort(send('GET', `${CONFIG_MAPS}?${Array.from({ length: 50_000 }, (_, i) => `a${i}=b`).join('&')}`)),
    want: [400, 414, 431],
  },
  HeaderBomb: {
    because: 'the length of headers is limited',
    send: () => cutShort(send('GET', CONFIG_MAPS, undefined, { 'x-long': 'y'.repeat(2_000_000) })),
    want: [400, 431],
  },
  LongName: {
    because: 'a name of two million characters is not valid',
    send: () => send('POST', CONFIG_MAPS, JSON.stringify({ metadata: { name: 'a'.repeat(2_000_000) } }), json),
    want: 422,
  },
  DeepExpression: {
    because: 'expressions nest, too',
    send: () =>
      send(
        'POST',
        '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
        JSON.stringify({
          apiVersion: 'admissionregistration.k8s.io/v1',
          kind: 'ValidatingAdmissionPolicy',
          metadata: { name: 'deep' },
          spec: { validations: [{ expression: nested('[', ']', 5_000) }] },
        }),
        json,
      ),
    want: 422,
  },
} satisfies typeof bad)

for (const depth of [2_000, 5_000, 20_000]) {
  const types = {
    json: () => send('POST', THINGS, thing('too-deep', deep(depth)), json),
    yaml: () => send('POST', THINGS, `spec: ${nested('{a: ', '}', depth)}`, yaml),
    update: () => send('PUT', `${THINGS}/deep`, thing('deep', deep(depth)), json),
    merge: () => patchDeep('application/merge-patch+json', `{"spec":${deep(depth)}}`),
    jsonPatch: () => patchDeep('application/json-patch+json', `[{"op":"add","path":"/spec","value":${deep(depth)}}]`),
    strategic: () =>
      send('PATCH', `${CONFIG_MAPS}/kube-root-ca.crt`, `{"data":${deep(depth)}}`, {
        'content-type': 'application/strategic-merge-patch+json',
      }),
    apply: () => patchDeep('application/apply-patch+yaml', thing('deep', deep(depth))),
  }
  for (const [type, act] of Object.entries(types)) {
    bad[`${depth} levels by ${type}`] = { because: 'a thousand must do', send: act, want: 400 }
  }
}

function patchDeep(type: string, body: string): Promise<Answer> {
  const force = type.startsWith('application/apply') ? '&force=true' : ''
  return send('PATCH', `${THINGS}/deep?fieldManager=test${force}`, body, { 'content-type': type })
}

for (const [name, { because, send: act, want }] of Object.entries(bad)) {
  test(`hostile input: ${name}`, async () => {
    const { status, body } = await act()
    assert.ok([want].flat().includes(status), `${because}: wanted ${want}, got ${status} ${body.slice(0, 300)}`)
    // Node itself refuses requests that are not valid HTTP/1.1.
    if (status >= 400 && status !== 431 && name !== 'UnknownPath')
      assert.equal((JSON.parse(body) as { kind: string }).kind, 'Status')
  })
}

test('hostile input: an object of 950 levels can be written and read in every form', async () => {
  const spec = deep(950)
  assert.equal((await send('POST', THINGS, thing('deep', spec), json)).status, 201)
  for (const accept of ['application/json', 'application/yaml']) {
    assert.equal((await send('GET', `${THINGS}/deep`, undefined, { accept })).status, 200)
  }
  const ways: Record<string, string> = {
    'application/merge-patch+json': '{"spec":{"b":1}}',
    'application/json-patch+json': `[{"op":"add","path":"/spec/c","value":${deep(900)}},{"op":"copy","from":"/spec/a","path":"/spec/d"}]`,
    'application/apply-patch+yaml': thing('deep', deep(950, '{"x":1}')),
  }
  for (const [type, body] of Object.entries(ways)) {
    const { status, body: answer } = await patchDeep(type, body)
    assert.equal(status, 200, `${type}: ${answer.slice(0, 200)}`)
  }
})

test('hostile input: repeated patches cannot nest an object without a limit', async () => {
  assert.equal((await send('POST', THINGS, thing('growing', '{"a":{}}'), json)).status, 201)
  const grow = (path: string, value: string) =>
    send('PATCH', `${THINGS}/growing`, `[{"op":"add","path":"${path}","value":${value}}]`, jsonPatch)
  assert.equal((await grow('/spec/a', deep(900))).status, 200)
  const { status, body } = await grow(`/spec${'/a'.repeat(900)}`, deep(900))
  assert.equal(status, 422)
  assert.match(body, /nests the object deeper than 1000 levels/)
  const doubling = Array.from({ length: 8 }, (_, i) => ({
    op: 'copy',
    from: '/spec',
    path: `/spec${'/a'.repeat(900 * 2 ** i)}`,
  }))
  assert.equal((await send('PATCH', `${THINGS}/growing`, JSON.stringify(doubling), jsonPatch)).status, 422)
})

test('hostile input: invalid UTF-8 is read as Go reads it', async () => {
  const [start = '', end = ''] = thing('not-utf8', '{"a":"?"}').split('?')
  const { status, body } = await send(
    'POST',
    THINGS,
    Buffer.concat([Buffer.from(start), Buffer.from([0xff, 0xc0, 0xaf]), Buffer.from(end)]),
    json,
  )
  assert.equal(status, 201)
  assert.ok(body.includes('\ufffd'))
})

test('hostile input: twenty thousand owners', { timeout: 600_000 }, async () => {
  const maps = '/api/v1/namespaces/kube-system/configmaps'
  const owner = (i: number) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: `no-${i}`, uid: `no-${i}` })
  const ownerReferences = Array.from({ length: 20_000 }, (_, i) => owner(i))
  const { status } = await send('POST', maps, JSON.stringify({ metadata: { name: 'owned', ownerReferences } }), json)
  assert.equal(status, 201)
  // None of the owners exists, so the object is deleted.
  while ((await send('GET', `${maps}/owned`)).status !== 404) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
})

test('hostile input: __proto__ and constructor are keys like any other', async () => {
  const body = '{"metadata":{"name":"proto"},"data":{"__proto__":"a","constructor":"b"}}'
  const { status } = await send('POST', CONFIG_MAPS, body, json)
  assert.equal(status, 201)
  const { body: read } = await send('GET', `${CONFIG_MAPS}/proto`)
  assert.ok(read.includes('"__proto__":"a"') && read.includes('"constructor":"b"'), read)
  assert.equal(({} as Record<string, unknown>)['a'], undefined)
})

test('hostile input: random bytes, JSON and paths never crash the server', { timeout: 600_000 }, async () => {
  const bodies = fc.oneof(
    fc.string(),
    fc.json({ maxDepth: 6 }),
    fc.uint8Array({ maxLength: 200 }).map((a) => Buffer.from(a)),
  )
  const types = fc.constantFrom(
    'application/json',
    'application/yaml',
    'application/vnd.kubernetes.protobuf',
    'application/merge-patch+json',
    'application/json-patch+json',
    'application/strategic-merge-patch+json',
    'application/apply-patch+yaml',
  )
  const methods = fc.constantFrom('POST', 'PUT', 'PATCH', 'DELETE')
  const paths = fc.constantFrom(
    CONFIG_MAPS,
    `${CONFIG_MAPS}/kube-root-ca.crt`,
    THINGS,
    `${THINGS}/a`,
    '/api/v1/namespaces/x',
  )
  const queries = fc.constantFrom(
    '',
    '?dryRun=All',
    '?fieldManager=x&force=true',
    '?fieldValidation=Strict',
    '?limit=-1',
  )
  await fc.assert(
    fc.asyncProperty(methods, paths, queries, types, bodies, async (method, path, query, type, body) => {
      const { status } = await send(method, path + query, body as string | Buffer, { 'content-type': type })
      assert.ok(
        status >= 200 && status < 500,
        `${method} ${path}${query} ${type} ${JSON.stringify(body)} gave ${status}`,
      )
    }),
    { numRuns: Number(process.env['HOSTILE_RUNS'] ?? 300) },
  )
})

/** A connection without credentials, on which a client may send any method. */
function stranger(): ClientHttp2Session {
  return connectHttp2(server.url, { ca: server.adminAccess().ca })
}

function ask(session: ClientHttp2Session, method: string, path: string): Promise<number> {
  const stream = session.request({ ':method': method, ':path': path }, { endStream: true })
  return new Promise((resolve, reject) => {
    stream.on('error', reject)
    stream.on('response', ({ ':status': status }) => resolve(Number(status)))
    stream.resume()
  })
}

test('hostile input: a method may have the name of a member of every object', async () => {
  const session = stranger()
  try {
    for (const method of ['constructor', 'toString', '__proto__', 'CONSTRUCTOR']) {
      for (const path of ['/api/v1/namespaces', `${CONFIG_MAPS}/a`, '/healthz']) {
        assert.equal(await ask(session, method, path), 403, `${method} ${path}`)
      }
    }
  } finally {
    session.destroy()
  }
})

test('hostile input: unknown resources do not create metrics', async () => {
  const session = stranger()
  try {
    for (const path of [
      '/apis/made-up.example.org/v1/things',
      '/apis/apps/made-up/deployments',
      '/api/v1/namespaces/default/made-up',
      `${CONFIG_MAPS}/a/made-up`,
    ]) {
      assert.equal(await ask(session, 'GET', path), 403)
      assert.equal(await ask(session, 'MADE-UP', path), 403)
      assert.equal((await send('GET', path)).status, 404)
    }
    assert.equal(await ask(session, 'MADE-UP', '/healthz'), 403)
  } finally {
    session.destroy()
  }
  const { body } = await send('GET', '/metrics')
  assert.match(body, /apiserver_request_total\{verb="other",group="",.*code="403"\}/)
  assert.doesNotMatch(body, /made-up/i)
})

test('hostile input: a client disconnects in the middle of its body, with an audit log', async () => {
  const { ca, client } = server.adminAccess()
  const session = connectHttp2(server.url, { ca, cert: client.cert, key: client.key })
  const stream = session.request({ ':method': 'POST', ':path': CONFIG_MAPS, ...yaml })
  stream.on('error', () => {})
  stream.write('metadata: {name: half}\n') // The server must expect more of the body.
  // Later requests on the same connection are answered later.
  assert.equal(await ask(session, 'GET', '/healthz'), 200)
  session.destroy()
  while (!(await readFile(join(dataDir, 'audit.log'), 'utf8')).includes('the request ended before its body did')) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  assert.equal((await send('GET', `${CONFIG_MAPS}/half`)).status, 404)
})

test('hostile input: garbage on the socket is dropped', async () => {
  const { hostname, port } = new URL(server.url)
  await new Promise<void>((resolve) => {
    const socket = connectTls({ host: hostname, port: Number(port), rejectUnauthorized: false, ALPNProtocols: ['h2'] })
    socket.on('secureConnect', () => socket.write(Buffer.alloc(64 * 1024, 0xff)))
    socket.on('error', () => resolve())
    socket.on('close', () => resolve())
    socket.resume()
  })
  assert.equal((await send('GET', '/readyz')).status, 200)
})

test('ten thousand watches are closed, and their memory is freed', { timeout: 600_000 }, async () => {
  const { ca, client } = server.adminAccess()
  const sessions = Array.from({ length: 20 }, () =>
    connectHttp2(server.url, { ca, cert: client.cert, key: client.key }),
  )
  const opened = sessions.flatMap((session) =>
    Array.from({ length: 500 }, () => {
      // Starts now: on a busy machine a revision may be compacted before the watch starts.
      const stream = session.request({
        ':path': `${CONFIG_MAPS}?watch=true&fieldSelector=metadata.name%3Dseen-by-many`,
      })
      stream.on('error', () => {})
      return new Promise<void>((resolve) => stream.on('response', () => resolve()))
    }),
  )
  await Promise.all(opened)
  assert.ok(server.engine.hub.watchers >= 10_000)
  assert.equal((await send('POST', CONFIG_MAPS, '{"metadata":{"name":"seen-by-many"}}', json)).status, 201)
  for (const session of sessions) session.destroy()
  while (server.engine.hub.watchers > 100) await new Promise((resolve) => setTimeout(resolve, 20))
})

function laughs(): string {
  const lines = ['a0: &a0 [x,x,x,x,x,x,x,x,x]']
  for (let i = 1; i < 10; i++)
    lines.push(
      `a${i}: &a${i} [${Array(9)
        .fill(`*a${i - 1}`)
        .join(',')}]`,
    )
  return lines.join('\n')
}

function deepAliases(): string {
  const lines = [`a0: &a0 ${nested('[', ']', 500)}`]
  for (let i = 1; i < 50; i++) lines.push(`a${i}: &a${i} ${'['.repeat(500)}*a${i - 1}${']'.repeat(500)}`)
  return lines.join('\n')
}

function deepMerges(): string {
  const lines = ['a0: &a0 {x: y}']
  for (let i = 1; i < 3_000; i++) lines.push(`a${i}: &a${i} {<<: *a${i - 1}}`)
  return lines.join('\n')
}

function copyBomb(): string {
  const copies = Array.from({ length: 40 }, (_, i) => ({ op: 'copy', from: '/data', path: `/data/a${i}` }))
  return JSON.stringify([{ op: 'add', path: '/data', value: { a: 'x'.repeat(1_000) } }, ...copies])
}

function token(start: string): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: 5, start })).toString('base64url')
}
