import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { type KubeObject, StatusError } from '@crosstie/kube'
import fc from 'fast-check'
import { THINGS, thing } from '../testing/memory.js'
import { type Access, inClusterAccess, staticAccess } from './access.js'
import { HttpClient } from './client.js'
import { Http2Connection } from './http2.js'
import { linesOf } from './lines.js'
import { proxyFor } from './proxy.js'
import { textOf } from './response.js'

type RequestHandler = (request: IncomingMessage, response: ServerResponse, body: string) => void

async function withServer(handler: RequestHandler, use: (url: string) => Promise<void>): Promise<void> {
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', () => handler(request, response, body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const json = (response: ServerResponse, code: number, value: unknown, headers: Record<string, string> = {}) =>
  response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))

const status = (code: number, reason: string, message: string) => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  reason,
  message,
  code,
})

async function failureOf(attempt: Promise<unknown>): Promise<StatusError> {
  const error: unknown = await attempt.then(
    () => undefined,
    (cause: unknown) => cause,
  )
  assert.ok(error instanceof StatusError, String(error))
  return error
}

test('lines are complete regardless of chunk boundaries', async () => {
  const lines = fc.array(fc.string({ unit: 'grapheme', minLength: 1 }).map((text) => JSON.stringify(text)))
  await fc.assert(
    fc.asyncProperty(lines, fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }), async (wanted, sizes) => {
      const bytes = Buffer.from(wanted.map((line) => `${line}\n`).join(''))
      const chunks: Buffer[] = []
      for (let at = 0, i = 0; at < bytes.length; at += sizes[i++ % sizes.length]!) {
        chunks.push(bytes.subarray(at, at + sizes[i % sizes.length]!))
      }
      const got: string[] = []
      for await (const line of linesOf(Readable.from(chunks))) got.push(line)
      assert.deepEqual(got, wanted)
    }),
  )
})

test('requests have the form that a Kubernetes API expects', async () => {
  const requests: string[] = []
  const handler: RequestHandler = (request, response, body) => {
    requests.push(`${request.method} ${request.url} ${request.headers['content-type'] ?? ''} ${body}`.trim())
    json(response, 200, thing('a'))
  }
  await withServer(handler, async (url) => {
    using client = new HttpClient(staticAccess({ server: `${url}/prefix/` }))
    const namespaced = { ...THINGS, group: '', resource: 'secrets', namespaced: true }
    await client.get(namespaced, { namespace: 'n', name: 'a' })
    await client.update(THINGS, thing('a'), { subresource: 'status', dryRun: true })
    const operations = [{ op: 'remove' as const, path: '/x' }]
    await client.patch(THINGS, { name: 'a' }, { type: 'json', operations })
    await client.apply(THINGS, { metadata: { name: 'a' } }, { fieldManager: 'm', force: true })
    await client.delete(THINGS, { name: 'a' }, { propagationPolicy: 'Foreground' })
    await client.list(THINGS, { labelSelector: 'a=b,c', limit: 5 })
  })
  assert.deepEqual(requests, [
    'GET /prefix/api/v1/namespaces/n/secrets/a',
    `PUT /prefix/apis/example.org/v1/things/a/status?dryRun=All application/json ${JSON.stringify(thing('a'))}`,
    'PATCH /prefix/apis/example.org/v1/things/a application/json-patch+json [{"op":"remove","path":"/x"}]',
    'PATCH /prefix/apis/example.org/v1/things/a?fieldManager=m&force=true application/apply-patch+yaml ' +
      '{"metadata":{"name":"a"},"apiVersion":"example.org/v1","kind":"Thing"}',
    'DELETE /prefix/apis/example.org/v1/things/a application/json ' +
      '{"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Foreground"}',
    'GET /prefix/apis/example.org/v1/things?labelSelector=a%3Db%2Cc&limit=5',
  ])
})

test('failures are StatusErrors, also when a proxy responds', async () => {
  const handlers: Record<string, (response: ServerResponse) => void> = {
    status: (response) => json(response, 409, status(409, 'AlreadyExists', 'it is there')),
    proxy: (response) => response.writeHead(502).end('<html>bad gateway</html>'),
    missing: (response) => response.writeHead(404).end('404 page not found\n'),
    broken: (response) => response.socket!.destroy(),
  }
  const handler: RequestHandler = (request, response) => handlers[request.url!.split('/').at(-1)!]!(response)
  await withServer(handler, async (url) => {
    using client = new HttpClient(staticAccess({ server: url }))
    const of = async (name: string) => {
      const { code, reason } = await failureOf(client.get(THINGS, { name }))
      return [code, reason]
    }
    assert.deepEqual(await of('status'), [409, 'AlreadyExists'])
    assert.deepEqual(await of('proxy'), [502, ''])
    assert.deepEqual(await of('missing'), [404, 'NotFound'])
    assert.deepEqual(await of('broken'), [503, 'ServiceUnavailable'])
  })
  using unreachable = new HttpClient(staticAccess({ server: 'https://127.0.0.1:1' }))
  assert.equal((await failureOf(unreachable.get(THINGS, { name: 'a' }))).reason, 'ServiceUnavailable')
})

test('a request is retried when an overloaded server asks for it', async () => {
  let times = 0
  const busy = status(429, 'TooManyRequests', 'later')
  const handler: RequestHandler = (_, response) =>
    ++times < 3 ? json(response, 429, busy, { 'retry-after': '0' }) : json(response, 201, thing('a'))
  await withServer(handler, async (url) => {
    using client = new HttpClient(staticAccess({ server: url }))
    // Retry-After: 0 counts as one second, so that a server that always sends it is not flooded.
    assert.equal((await client.create(THINGS, thing('a'))).metadata.name, 'a')
  })
  assert.equal(times, 3)
})

test('rejected credentials are renewed once', async () => {
  const tokens: string[] = []
  const handler: RequestHandler = (request, response) => {
    tokens.push(String(request.headers.authorization))
    if (request.headers.authorization === 'Bearer new') json(response, 200, thing('a'))
    else json(response, 401, status(401, 'Unauthorized', 'Unauthorized'))
  }
  await withServer(handler, async (url) => {
    let token = 'old'
    const access: Access = {
      server: url,
      tls: async () => ({}),
      headers: async () => ({ authorization: `Bearer ${token}` }),
      renew: () => {
        token = 'new'
      },
    }
    using client = new HttpClient(access)
    await client.get(THINGS, { name: 'a' })
    using stranger = new HttpClient(staticAccess({ server: url, token: 'bad' }))
    assert.equal((await failureOf(stranger.get(THINGS, { name: 'a' }))).code, 401)
  })
  assert.deepEqual(tokens, ['Bearer old', 'Bearer new', 'Bearer bad', 'Bearer bad'])
})

test('the service account token is reread', async () => {
  const accountDir = await mkdtemp(join(tmpdir(), 'crosstie-account-'))
  await writeFile(join(accountDir, 'ca.crt'), 'CA')
  await writeFile(join(accountDir, 'token'), 'one\n')
  let time = 0
  const environment = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' }
  const access = inClusterAccess({ environment, accountDir, now: () => time })
  assert.equal(access.server, 'https://[fd00::1]:443')
  assert.deepEqual(await access.tls(), { ca: 'CA' })
  assert.deepEqual(await access.headers(), { authorization: 'Bearer one' })
  await writeFile(join(accountDir, 'token'), 'two\n')
  time += 30_000
  assert.deepEqual(await access.headers(), { authorization: 'Bearer one' })
  time += 31_000
  assert.deepEqual(await access.headers(), { authorization: 'Bearer two' })
  await rm(accountDir, { recursive: true })
})

test('a list may be compressed, with 64-bit integers and items without kind', async () => {
  const text =
    '{"kind":"ThingList","apiVersion":"example.org/v1","metadata":{},"items":[{"metadata":{"name":"a"},"n":9007199254740993}]}'
  const handler: RequestHandler = (request, response) => {
    assert.equal(request.headers['accept-encoding'], 'gzip')
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text))
  }
  await withServer(handler, async (url) => {
    using client = new HttpClient(staticAccess({ server: url }))
    const { items } = await client.list(THINGS)
    assert.deepEqual(items, [
      { apiVersion: 'example.org/v1', kind: 'Thing', metadata: { name: 'a' }, n: 9007199254740993n },
    ])
  })
})

test('a request ends on timeout and on abort', async () => {
  await withServer(
    () => {},
    async (url) => {
      using client = new HttpClient(staticAccess({ server: url }), { timeoutMs: 30 })
      assert.deepEqual((await failureOf(client.get(THINGS, { name: 'a' }))).reason, 'Timeout')
      const signal = AbortSignal.timeout(10)
      await assert.rejects(client.get(THINGS, { name: 'a' }, { signal }), { name: 'TimeoutError' })
    },
  )
})

const line = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`

test('a watch yields events, ends with its connection, and throws error events', async () => {
  const handler: RequestHandler = (request, response) => {
    response.writeHead(200)
    const half = line('ADDED', thing('ä'))
    response.write(half.slice(0, 20))
    setTimeout(() => {
      response.write(half.slice(20))
      if (request.url!.includes('resourceVersion=5')) {
        response.end(line('ERROR', status(410, 'Expired', 'too old resource version: 5 (9)')))
      } else setTimeout(() => response.socket!.destroy(), 20)
    }, 10)
  }
  await withServer(handler, async (url) => {
    using client = new HttpClient(staticAccess({ server: url }))
    const seen: KubeObject[] = []
    for await (const { object } of client.watch(THINGS, {})) seen.push(object)
    assert.deepEqual(
      seen.map(({ metadata }) => metadata.name),
      ['ä'],
    )
    const expired = async () => {
      for await (const { object } of client.watch(THINGS, { resourceVersion: '5' })) seen.push(object)
    }
    assert.equal((await failureOf(expired())).reason, 'Expired')
    assert.equal(seen.length, 2)
  })
})

test('a slow reader of a watch does not fill the memory', async () => {
  let written = 0
  const big = line('ADDED', thing('a', { text: 'x'.repeat(100_000) }))
  const handler: RequestHandler = (_, response) => {
    response.writeHead(200)
    const more = () => {
      while (written < 2_000 && response.write(big)) written++
      if (written < 2_000) response.once('drain', more)
    }
    more()
  }
  await withServer(handler, async (url) => {
    using client = new HttpClient(staticAccess({ server: url }))
    let read = 0
    for await (const _ of client.watch(THINGS, {})) {
      if (++read === 3) break
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    assert.ok(written < 500, `${written} of 2000 were sent while 3 were read`)
  })
})

const proxies: Record<string, { server: string; environment: Record<string, string>; want: string | undefined }> = {
  'no proxy set': { server: 'https://k8s.example.org', environment: {}, want: undefined },
  'proxy set': { server: 'https://k8s.example.org', environment: { HTTPS_PROXY: 'p:1' }, want: 'p:1' },
  'lower-case variable': { server: 'https://k8s.example.org', environment: { https_proxy: 'p:1' }, want: 'p:1' },
  'host excluded': {
    server: 'https://k8s.example.org',
    environment: { HTTPS_PROXY: 'p:1', NO_PROXY: 'a.org, k8s.example.org' },
    want: undefined,
  },
  'domain excluded': {
    server: 'https://k8s.example.org',
    environment: { HTTPS_PROXY: 'p:1', no_proxy: '.example.org' },
    want: undefined,
  },
  'another domain with the same ending': {
    server: 'https://k8s.badexample.org',
    environment: { HTTPS_PROXY: 'p:1', no_proxy: 'example.org' },
    want: 'p:1',
  },
  'without a user': {
    server: 'https://k8s.example.org',
    environment: { HTTPS_PROXY: 'p:1', NO_PROXY: '*' },
    want: undefined,
  },
  'this machine': { server: 'https://127.0.0.1:6443', environment: { HTTPS_PROXY: 'p:1' }, want: undefined },
}
for (const [name, { server, environment, want }] of Object.entries(proxies)) {
  test(`proxy from the environment: ${name}`, () => {
    assert.equal(proxyFor(new URL(server), environment), want)
  })
}

test('an incomplete response is an error', async () => {
  const response = (text: string, headers: Record<string, string>, rstCode = 0) => ({
    status: 200,
    headers,
    body: Object.assign(Readable.from([Buffer.from(text)]), { rstCode }),
  })
  const cut = /before the response was complete/
  await assert.rejects(textOf(response('{"a":', { 'content-length': '8' })), cut, 'a part came')
  await assert.rejects(textOf(response('', { 'content-length': '8' })), cut, 'only the headers arrived')
  await assert.rejects(
    textOf(response('{}', {}, 8)),
    cut,
    'the stream was reset, as happens when an HTTP/2 connection is lost',
  )
  assert.equal(await textOf(response('{"a":1}', { 'content-length': '7' })), '{"a":1}')
})

test('a connection that is lost just before a ping ends without an uncaught error', async (t) => {
  const server = createHttp2Server().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  t.mock.timers.enable({ apis: ['setInterval'] })
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const connection = new Http2Connection(`http://127.0.0.1:${port}`, socket as TLSSocket)
  // After the session noticed the loss, and before it emits its end.
  const pinged = new Promise<void>((resolve) => {
    socket.on('close', () => {
      t.mock.timers.tick(60_000)
      resolve()
    })
  })
  socket.destroy()
  await pinged
  assert.equal(connection.ended, true)
  server.close()
})
