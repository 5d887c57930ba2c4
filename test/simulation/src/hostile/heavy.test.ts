import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { connect } from 'node:http2'
import os from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { KubeconfigContent } from '@crosstie/apiserver'
import { Api } from '../program/api.js'
import type { Hello } from './messages.js'

/*
 * Requests within the size limit that are as expensive as a client can think of. None may stop the server, and none may
 * keep the event loop busy for long in one piece. The victim measures the CPU time of its main thread between two turns of
 * the event loop: other work on the machine does not count.
 */
const MAPS = '/api/v1/namespaces/default/configmaps'
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const THINGS = '/apis/heavy.example.org/v1/things'
const COUNT = 120_000
/** 200 ms on a quiet machine; a machine that others use takes several times as long for the same work. */
const BLOCKED_MS_MAX = 1_200

const home = fs.mkdtempSync(join(os.tmpdir(), 'crosstie-heavy-'))
let victim: ChildProcess
let access: KubeconfigContent
let admin: Api

before(async () => {
  const program = fileURLToPath(new URL('./busy-victim.js', import.meta.url))
  victim = fork(program, [join(home, 'data')])
  const [hello] = (await once(victim, 'message')) as [Hello]
  access = hello.access
  admin = new Api(access)
  const spec = {
    type: 'object',
    properties: {
      set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
      any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
  }
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.heavy.example.org' },
    spec: {
      group: 'heavy.example.org',
      scope: 'Cluster',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  }
  assert.equal((await admin.send('POST', CRDS, definition)).status, 201)
  while ((await admin.send('GET', THINGS)).status !== 200) await new Promise((resolve) => setImmediate(resolve))
})

after(async () => {
  admin?.close()
  assert.equal(victim.exitCode, null, 'the server survives')
  victim.kill()
  await once(victim, 'exit')
  fs.rmSync(home, { recursive: true, force: true })
})

interface Attack {
  readonly path: string
  readonly body: unknown
  readonly status: number
  readonly method?: string
  readonly type?: string
  readonly message?: RegExp
}

const many = <T>(count: number, value: (i: number) => [string, T]) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => value(i)))
const list = <T>(count: number, value: (i: number) => T) => Array.from({ length: count }, (_, i) => value(i))
const map = (metadata: object, rest: object = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata, ...rest })
const thing = (metadata: object, spec: object = {}) => ({
  apiVersion: 'heavy.example.org/v1',
  kind: 'Thing',
  metadata,
  spec,
})
const owner = (i: number) => ({ apiVersion: 'v1', kind: 'X', name: `n${i}`, uid: `u${i}`, controller: true })
const yaml = (body: string) =>
  `apiVersion: heavy.example.org/v1\nkind: Thing\nmetadata: {name: alias}\nspec:\n  any:\n${body}`
const STRATEGIC = 'application/strategic-merge-patch+json'

const attacks: Readonly<Record<string, Attack>> = {
  'annotations beyond their limit': {
    path: MAPS,
    body: map({ name: 'a', annotations: many(COUNT, (i) => [`a${i}`, 'v']) }),
    status: 422,
    message: /metadata\.annotations: Too long: may not be more than 262144 bytes/,
  },
  'annotations with bad keys': {
    path: MAPS,
    body: map({ name: 'b', annotations: many(COUNT, (i) => [`a ${i}`, 'v']) }),
    status: 422,
    message: /and \d+ more errors/,
  },
  'labels with bad keys and values': {
    path: MAPS,
    body: map({ name: 'c', labels: many(COUNT, (i) => [`a ${i}`, '-v ']) }),
    status: 422,
    message: /and \d+ more errors/,
  },
  labels: { path: MAPS, body: map({ name: 'd', labels: many(60_000, (i) => [`a${i}`, 'v']) }), status: 201 },
  finalizers: { path: THINGS, body: thing({ name: 'e', finalizers: list(60_000, (i) => `x.io/a${i}`) }), status: 201 },
  'finalizers with bad names': {
    path: THINGS,
    body: thing({ name: 'f', finalizers: list(COUNT, (i) => `a ${i}`) }),
    status: 422,
    message: /and \d+ more errors/,
  },
  'controllers that are each reported with all': {
    path: MAPS,
    body: map({ name: 'g', ownerReferences: list(25_000, owner) }),
    status: 422,
    message: /Only one reference can have Controller set to true/,
  },
  'unknown fields of a custom resource, warned about': {
    path: THINGS,
    body: thing(
      { name: 'h' },
      many(150_000, (i) => [`f${i}`, 1]),
    ),
    status: 201,
  },
  'unknown fields of a custom resource, refused': {
    path: `${THINGS}?fieldValidation=Strict`,
    body: thing(
      { name: 'i' },
      many(150_000, (i) => [`f${i}`, 1]),
    ),
    status: 400,
    message: /strict decoding error: unknown field \\+"spec.f0/,
  },
  'unknown fields of a built-in kind': {
    path: MAPS,
    body: { ...map({ name: 'j' }), ...many(150_000, (i) => [`f${i}`, 1]) },
    status: 201,
  },
  'more fields than a body may have': {
    path: THINGS,
    body: thing({ name: 'k' }, { any: many(230_000, (i) => [`${i}`, 1]) }),
    status: 413,
  },
  'a set in the wrong order': {
    path: THINGS,
    body: thing({ name: 'l' }, { set: list(60_000, (i) => `k${60_000 - i}`) }),
    status: 201,
  },
  'a strategic patch of many finalizers': {
    path: `${MAPS}/seed`,
    method: 'PATCH',
    type: STRATEGIC,
    body: { metadata: { finalizers: list(50_000, (i) => `x.io/k${i}`) } },
    status: 200,
  },
  'a strategic patch that adds as many others': {
    path: `${MAPS}/seed`,
    method: 'PATCH',
    type: STRATEGIC,
    body: { metadata: { finalizers: list(50_000, (i) => `x.io/j${i}`) } },
    status: 200,
  },
  'aliases of an anchor in YAML': {
    path: THINGS,
    type: 'application/yaml',
    body: yaml(`    b: &b [${list(1_000, () => '1').join()}]\n    y: [${list(30_000, () => '*b').join()}]\n`),
    status: 400,
    message: /document contains excessive aliasing/,
  },
  'aliases far from a small anchor in YAML': {
    path: THINGS,
    type: 'application/yaml',
    body: yaml(`    b: &b {}\n    y: [${list(100_000, () => '*b').join()}]\n`),
    status: 201,
  },
  'a token of megabytes': {
    path: '/apis/authentication.k8s.io/v1/tokenreviews',
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token: `${'a'.repeat(900_000)}.${'b'.repeat(900_000)}.${'c'.repeat(900_000)}` },
    },
    status: 201,
  },
}

for (const [name, attack] of Object.entries(attacks)) {
  test(name, { timeout: 600_000 }, async (t) => {
    if (attack.path.endsWith('/seed')) await admin.send('POST', MAPS, map({ name: 'seed' }))
    await longestBlock()
    const { status, text } = await send(attack)
    const blocked = await longestBlock()
    t.diagnostic(`${status}, ${text.length} bytes, busy for ${blocked.toFixed(0)} ms at most`)
    assert.equal(status, attack.status, text.slice(0, 500))
    if (attack.message) assert.match(text.slice(0, 3_000_000), attack.message)
    assert.ok(text.length < 16 << 20, `an answer of ${text.length} bytes`)
    assert.ok(blocked < BLOCKED_MS_MAX, `the event loop was busy for ${blocked} ms`)
    assert.equal((await admin.send('GET', '/livez')).status, 200)
  })
}

async function longestBlock(): Promise<number> {
  victim.send('measure')
  const [{ longest }] = (await once(victim, 'message')) as [{ longest: number }]
  return longest
}

function send({ method = 'POST', path, body, type = 'application/json' }: Attack) {
  const { server, ca, client } = access
  const session = connect(server, { ca, cert: client.cert, key: client.key, maxHeaderListPairs: 1_000 })
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    session.on('error', reject)
    const stream = session.request({ ':method': method, ':path': path, 'content-type': type })
    const chunks: Buffer[] = []
    let status = 0
    stream.on('response', (head) => {
      status = Number(head[':status'])
    })
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('error', reject)
    stream.on('close', () => {
      session.close()
      resolve({ status, text: Buffer.concat(chunks).toString('utf8') })
    })
    stream.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
}
