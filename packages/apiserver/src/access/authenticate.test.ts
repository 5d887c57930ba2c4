import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createSecureServer } from 'node:http2'
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { StatusError } from '@crosstie/kube'
import { Authenticator, parseTokenFile } from './authenticate.js'
import type { Authorizer } from './authorize.js'
import { impersonate } from './impersonate.js'
import { signingKey, signToken } from './jwt.js'
import { openidDocuments } from './openid.js'
import { openPki, type Pki } from './pki.js'
import { FakeObjects } from './testing.js'
import { requestToken } from './token-request.js'
import { ServiceAccountTokens } from './tokens.js'
import type { UserInfo } from './user.js'

const NOW = Date.parse('2026-01-01T00:00:00Z')
const ISSUER = 'https://kubernetes.default.svc'
const context = {
  type: { group: '', version: 'v1', kind: '', resource: '', namespaced: false },
  subresource: '',
  user: { name: 'alice', uid: 'u1', groups: ['g'], extra: { k: ['v'] } },
  now: NOW,
  warnings: [],
}

function world(options: { readonly rsa?: boolean } = {}) {
  const objects = new FakeObjects()
  const clock = {
    time: NOW,
    now() {
      return this.time
    },
  }
  const keys = options.rsa
    ? generateKeyPairSync('rsa', { modulusLength: 2048 })
    : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key = signingKey(keys.privateKey)
  let ids = 0
  const tokens = new ServiceAccountTokens({
    objects,
    key,
    issuer: ISSUER,
    audiences: [ISSUER],
    clock,
    newId: () => `id-${++ids}`,
  })
  const staticTokens = parseTokenFile('fixed,alice,u1,"g1,g2"\nother, bob ,u2\n', 'tokens.csv')
  const authenticator = new Authenticator({ tokens, staticTokens, clock })
  const account = objects.put('//serviceaccounts/ns/robot', {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'robot', namespace: 'ns', uid: 'sa-1' },
  })
  return { objects, clock, key, tokens, authenticator, account }
}

const secret = (fields: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 's', namespace: 'ns', uid: 'secret-1' },
  ...fields,
})

function refusal(step: () => unknown): StatusError {
  try {
    step()
  } catch (error) {
    assert.ok(error instanceof StatusError, String(error))
    return error
  }
  throw new Error('was not refused')
}

test('a service account token names its account, from the same key for every algorithm', () => {
  for (const rsa of [true, false]) {
    const { tokens, authenticator, account } = world({ rsa })
    const token = tokens.issue(account, [ISSUER], 3600)
    const user = authenticator.authenticate(`Bearer ${token}`, undefined)
    assert.deepEqual(user, {
      name: 'system:serviceaccount:ns:robot',
      uid: 'sa-1',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': ['JTI=id-1'] },
    })
    assert.equal(authenticator.authenticate(`bearer ${token}`, undefined), user, 'the same object again')
  }
})

test('a token becomes invalid with the objects it depends on', () => {
  const bound = { kind: 'secret', name: 's', uid: 'secret-1' } as const
  type World = ReturnType<typeof world>
  const cases: Record<string, { change: (w: World) => void; error: string }> = {
    Expired: {
      change: ({ clock }) => {
        clock.time += 3661_000
      },
      error: 'service account token has expired',
    },
    NotYet: {
      change: ({ clock }) => {
        clock.time -= 61_000
      },
      error: 'service account token is not valid yet',
    },
    AccountGone: {
      change: ({ objects }) => objects.remove('//serviceaccounts/ns/robot'),
      error: 'serviceaccounts "robot" not found',
    },
    AccountReplaced: {
      change: ({ objects }) => objects.put('//serviceaccounts/ns/robot', { metadata: { uid: 'sa-2' } }),
      error: 'service account UID (sa-2) does not match claim (sa-1)',
    },
    AccountLongDeleted: {
      change: ({ objects }) =>
        objects.put('//serviceaccounts/ns/robot', {
          metadata: { uid: 'sa-1', deletionTimestamp: '2025-12-31T23:58:00Z' },
        }),
      error: 'service account ns/robot has been deleted',
    },
    SecretGone: {
      change: ({ objects }) => objects.remove('//secrets/ns/s'),
      error: 'service account token has been invalidated',
    },
    SecretReplaced: {
      change: ({ objects }) => objects.put('//secrets/ns/s', secret({ metadata: { uid: 'secret-2' } })),
      error: 'secret UID (secret-2) does not match service account secret ref claim (secret-1)',
    },
  }
  for (const [name, { change, error }] of Object.entries(cases)) {
    const w = world()
    w.objects.put('//secrets/ns/s', secret())
    const token = w.tokens.issue(w.account, [ISSUER], 3600, bound)
    assert.ok(w.authenticator.review(token).user, name)
    change(w)
    assert.equal(w.authenticator.review(token).error, `[invalid bearer token, ${error}]`, name)
    const { code, message } = refusal(() => w.authenticator.authenticate(`Bearer ${token}`, undefined))
    assert.deepEqual([code, message], [401, 'Unauthorized'], name)
  }
})

test('a forged token is refused', () => {
  const { tokens, authenticator, account, key } = world()
  const [header, claims, signature] = tokens.issue(account, [ISSUER], 3600).split('.') as [string, string, string]
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const stranger = signingKey(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey)
  const said = JSON.parse(Buffer.from(claims, 'base64url').toString())
  const broken = 'go-jose/go-jose: error in cryptographic primitive'
  const forged: [string, string][] = [
    [`${header}.${claims}.${signature.slice(0, -4)}AAAA`, broken],
    [`${header}.${claims}.`, broken],
    [`${encode({ alg: 'none', kid: key.id })}.${claims}.`, broken],
    [`${encode({ alg: 'HS256', kid: key.id })}.${claims}.${signature}`, broken],
    [`${header}.${encode({ ...said, sub: 'system:admin' })}.${signature}`, broken],
    [signToken(stranger, said), 'invalid signature, no keys found'],
    [signToken({ ...stranger, id: key.id }, said), broken],
  ]
  for (const [token, error] of forged) {
    assert.deepEqual(authenticator.review(token), { error: `[invalid bearer token, ${error}]` })
  }
  const lying = signToken(key, { ...said, sub: 'system:serviceaccount:kube-system:other' })
  assert.match(authenticator.review(lying).error ?? '', /sub claim is invalid/)
  const strange = ['x', 'a.b', 'a.b.c', '..', `${header}.bnVsbA.${signature}`, '', signToken(key, { iss: 'other' })]
  for (const token of strange) assert.deepEqual(authenticator.review(token), { error: 'invalid bearer token' }, token)
})

test('audiences', () => {
  const { tokens, authenticator, account } = world()
  const vault = tokens.issue(account, ['vault', 'x'], 3600)
  assert.deepEqual(authenticator.review(vault, ['vault', 'y']).audiences, ['vault'])
  assert.equal(
    authenticator.review(vault).error,
    `[invalid bearer token, token audiences ["vault" "x"] is invalid for the target audiences ["${ISSUER}"]]`,
  )
  assert.equal(authenticator.review('fixed', ['vault']).error, 'invalid bearer token')
})

test('a token from a Secret is valid as long as the Secret holds it', () => {
  const w = world()
  const token = w.tokens.issueForSecret(w.account, 's')
  const data = { token: Buffer.from(token).toString('base64') }
  const review = () => w.authenticator.review(token)
  assert.equal(review().error, '[invalid bearer token, Token has been invalidated]')
  w.objects.put('//secrets/ns/s', secret({ data }))
  assert.equal(review().user?.name, 'system:serviceaccount:ns:robot')
  assert.equal(review().user?.extra, undefined)
  assert.deepEqual(review().audiences, [ISSUER])
  w.objects.put('//secrets/ns/s', secret({ data: { token: 'eA==' } }))
  assert.equal(review().error, "[invalid bearer token, Token does not match server's copy]")
  const labels = { 'kubernetes.io/legacy-token-invalid-since': '2025-01-01' }
  w.objects.put('//secrets/ns/s', secret({ data, metadata: { labels } }))
  assert.match(review().error ?? '', /the token in secret ns\/s for service account ns\/robot has been marked invalid/)
  w.objects.put('//secrets/ns/s', secret({ data }))
  w.objects.remove('//serviceaccounts/ns/robot')
  assert.equal(review().error, '[invalid bearer token, serviceaccounts "robot" not found]')
})

test('static tokens, anonymous requests, and headers without a bearer token', () => {
  const { authenticator } = world()
  const who = (header: string | undefined) => authenticator.authenticate(header, undefined)
  assert.deepEqual(who('Bearer fixed'), { name: 'alice', uid: 'u1', groups: ['g1', 'g2', 'system:authenticated'] })
  assert.deepEqual(who('Bearer other'), { name: 'bob', uid: 'u2', groups: ['system:authenticated'] })
  const anonymous = { name: 'system:anonymous', groups: ['system:unauthenticated'] }
  for (const header of [undefined, '', 'Basic abc', 'Bearer', 'Bearer ']) assert.deepEqual(who(header), anonymous)
  const warnings: string[] = []
  assert.deepEqual(authenticator.authenticate('Bearer  fixed', undefined, warnings), anonymous)
  assert.deepEqual(warnings, [
    'the provided Authorization header contains extra space before the bearer token, and is ignored',
  ])
  assert.equal(refusal(() => who('Bearer nonsense')).reason, 'Unauthorized')
})

test('a token file', () => {
  const read = (text: string) => [...parseTokenFile(text, 'f.csv')]
  assert.deepEqual(read('"a,""b",u,"",""\r\n\n'), [['a,"b', { name: 'u', uid: '', groups: [] }]])
  assert.throws(() => read('a,b,c\nx,y'), /line 2 of the token file f.csv must have at least 3 columns .*, found 2/)
  assert.throws(() => read('"a,b,c'), /line 1 of the token file f.csv/)
  assert.throws(() => read(',b,c'), /line 1 of the token file f.csv has an empty token/)
})

let folder: string
let pki: Pki
let stranger: Pki
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crosstie-auth-'))
  const clock = { now: () => Date.now() }
  pki = await openPki({ dataDir: join(folder, 'a'), host: '127.0.0.1', clock })
  stranger = await openPki({ dataDir: join(folder, 'b'), host: '127.0.0.1', clock })
})
after(() => rm(folder, { recursive: true, force: true }))

test('a client certificate names user and groups; one of another CA does not', async () => {
  const { authenticator, clock } = world()
  clock.time = Date.now()
  const seen: (UserInfo | string)[] = []
  const server = createServer({ ...pki.serving, ca: pki.ca, requestCert: true, rejectUnauthorized: false })
  server.on('request', (incoming, outgoing) => {
    try {
      seen.push(authenticator.authenticate(incoming.headers.authorization, incoming.socket as TLSSocket))
    } catch (error) {
      seen.push((error as Error).message)
    }
    outgoing.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const port = (server.address() as AddressInfo).port
  const call = (client: object, headers: Record<string, string> = {}) =>
    new Promise<void>((resolve, reject) => {
      const options = { host: '127.0.0.1', port, ca: pki.ca, agent: false, headers, ...client }
      request(options, (response) => response.resume().on('end', resolve))
        .on('error', reject)
        .end()
    })
  try {
    await call(pki.issueClient('carol', ['devs', 'ops']))
    await call({})
    await call(stranger.admin)
    await call(stranger.admin, { authorization: 'Bearer fixed' })
    await call(pki.admin, { authorization: 'Bearer nonsense' })
    clock.time += 400 * 24 * 3600 * 1000
    await call(pki.admin)
  } finally {
    server.close()
  }
  const carol = seen[0] as UserInfo
  assert.equal(carol.name, 'carol')
  assert.deepEqual(carol.groups, ['devs', 'ops', 'system:authenticated'])
  assert.match(carol.extra?.['authentication.kubernetes.io/credential-id']?.[0] ?? '', /^X509SHA256=[0-9a-f]{64}$/)
  assert.equal((seen[1] as UserInfo).name, 'system:anonymous')
  assert.equal(seen[2], 'Unauthorized')
  assert.equal((seen[3] as UserInfo).name, 'alice')
  assert.deepEqual((seen[4] as UserInfo).groups, ['system:masters', 'system:authenticated'])
  assert.equal(seen[5], 'Unauthorized')
})

test('an HTTP/2 connection is authenticated once', async () => {
  const { authenticator, clock } = world()
  clock.time = Date.now()
  const seen: UserInfo[] = []
  const server = createSecureServer({ ...pki.serving, ca: pki.ca, requestCert: true, rejectUnauthorized: false })
  server.on('stream', (stream) => {
    seen.push(authenticator.authenticate(undefined, stream.session!.socket as TLSSocket))
    stream.respond({ ':status': 200 })
    stream.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = connect(`https://127.0.0.1:${(server.address() as AddressInfo).port}`, { ca: pki.ca, ...pki.admin })
  try {
    for (let i = 0; i < 2; i++) {
      await new Promise((resolve) => client.request({ ':path': '/' }).resume().on('end', resolve))
    }
  } finally {
    client.close()
    server.close()
  }
  assert.equal(seen[0]?.name, 'kubernetes-admin')
  assert.equal(seen[1], seen[0])
})

test('impersonation', () => {
  const alice = { name: 'alice', groups: ['g'] }
  const asked: unknown[] = []
  const anything: Authorizer = {
    authorize: ({ user: _u, ...what }) => {
      asked.push(what)
      return { allowed: true, reason: '' }
    },
  }
  const as = (...headers: string[]) => impersonate(alice, headers, '/api', anything)
  assert.equal(as('Host', 'x', 'If-None-Match', 'y'), alice)
  assert.equal(as('Impersonate-User', ''), alice)
  assert.deepEqual(as('Impersonate-User', 'bob'), { name: 'bob', groups: ['system:authenticated'] })
  assert.deepEqual(as('impersonate-user', 'system:serviceaccount:ns:robot').groups, [
    'system:serviceaccounts',
    'system:serviceaccounts:ns',
    'system:authenticated',
  ])
  assert.deepEqual(as('Impersonate-User', 'system:anonymous').groups, ['system:unauthenticated'])
  asked.length = 0
  assert.deepEqual(
    as(
      ...['Impersonate-User', 'bob', 'Impersonate-Group', 'a', 'Impersonate-Group', 'system:unauthenticated'],
      ...['Impersonate-Extra-Acme.com%2FProject', 'p', 'Impersonate-Extra-__proto__', 'q', 'Impersonate-Uid', '7'],
    ),
    {
      name: 'bob',
      uid: '7',
      groups: ['a', 'system:unauthenticated'],
      extra: JSON.parse('{"acme.com/project":["p"],"__proto__":["q"]}'),
    },
  )
  const verb = 'impersonate'
  assert.deepEqual(asked, [
    { verb, group: '', resource: 'users', name: 'bob' },
    { verb, group: '', resource: 'groups', name: 'a' },
    { verb, group: '', resource: 'groups', name: 'system:unauthenticated' },
    { verb, group: 'authentication.k8s.io', resource: 'userextras', subresource: 'acme.com/project', name: 'p' },
    { verb, group: 'authentication.k8s.io', resource: 'userextras', subresource: '__proto__', name: 'q' },
    { verb, group: 'authentication.k8s.io', resource: 'uids', name: '7' },
  ])
  assert.equal(
    refusal(() => as('Impersonate-Group', 'g', 'Impersonate-Extra-Foo', 'v', 'Impersonate-Uid', '7')).message,
    'Internal Server Error: "/api": requested [{Group  g    } {UserExtra  v  authentication.k8s.io/v1  foo} {UID  7  authentication.k8s.io/v1  }] without impersonating a user',
  )
})

test('impersonation is refused with the messages of kube-apiserver', () => {
  const nothing: Authorizer = { authorize: () => ({ allowed: false, reason: '' }) }
  const as = (...headers: string[]) => refusal(() => impersonate(context.user, headers, '/', nothing)).toStatus()
  assert.equal(
    as('Impersonate-User', 'bob').message,
    'users "bob" is forbidden: User "alice" cannot impersonate resource "users" in API group "" at the cluster scope',
  )
  assert.deepEqual(as('Impersonate-User', 'bob').details, { name: 'bob', kind: 'users' })
  assert.equal(
    as('Impersonate-User', 'system:serviceaccount:ns:bob').message,
    'serviceaccounts "bob" is forbidden: User "alice" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "ns"',
  )
})

test('TokenRequest', () => {
  const { objects, tokens, authenticator } = world()
  objects.put('//secrets/ns/s', secret())
  const ask = (spec: object, metadata = {}, name = 'robot') => {
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata, spec }
    return requestToken(objects, tokens, { namespace: 'ns', name }, request, NOW)
  }
  const { status, ...rest } = ask({})
  const { token, expirationTimestamp } = status as { token: string; expirationTimestamp: string }
  assert.equal(expirationTimestamp, '2026-01-01T01:00:00Z')
  assert.equal(authenticator.review(token).user?.uid, 'sa-1')
  assert.deepEqual(rest, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: { name: 'robot', namespace: 'ns', uid: 'sa-1', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { audiences: [ISSUER], expirationSeconds: 3600, boundObjectRef: null },
  })
  const bound = (fields: object) => ({ boundObjectRef: { apiVersion: 'v1', ...fields } })
  const cases: [() => unknown, number, string][] = [
    [
      () => ask({ expirationSeconds: 5 }),
      422,
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes',
    ],
    [
      () => ask({ expirationSeconds: 5000000000n }),
      422,
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 5000000000: may not specify a duration larger than 2^32 seconds',
    ],
    [
      () => ask({}, { name: 'zz' }),
      422,
      'TokenRequest.authentication.k8s.io "robot" is invalid: metadata.name: Invalid value: "zz": must match the service account name if specified',
    ],
    [
      () => ask({}, { uid: 'abc' }),
      409,
      'Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "robot": the UID in the token request (abc) does not match the UID of the service account (sa-1)',
    ],
    [() => ask({}, {}, 'nope'), 404, 'serviceaccounts "nope" not found'],
    [() => ask(bound({ kind: 'Secret', name: 'nope' })), 404, 'secrets "nope" not found'],
    [() => ask(bound({ kind: 'Pod', name: 'nope' })), 404, 'pods "nope" not found'],
    [
      () => ask(bound({ kind: 'ConfigMap', name: 'x' })),
      400,
      'cannot bind token to object of type /v1, Kind=ConfigMap',
    ],
    [
      () => ask(bound({ kind: 'Secret', name: 's', uid: 'abc' })),
      409,
      'Operation cannot be fulfilled on Secret "s": the UID in the bound object reference (abc) does not match the UID in record. The object might have been deleted and then recreated',
    ],
  ]
  for (const [step, code, message] of cases) {
    const error = refusal(step)
    assert.deepEqual([error.code, error.message], [code, message])
  }
  const short = ask({ ...bound({ kind: 'Secret', name: 's' }), audiences: ['a'], expirationSeconds: 600 })
  const { user } = authenticator.review((short['status'] as { token: string }).token, ['a'])
  assert.equal(user?.name, 'system:serviceaccount:ns:robot')
})

test('OpenID documents let relying parties verify our tokens', async () => {
  const { tokens, account } = world()
  const documents = openidDocuments(tokens, '127.0.0.1:6443')
  const read = (path: string) => JSON.parse(documents.get(path)!.body)
  assert.deepEqual(read('/.well-known/openid-configuration'), {
    issuer: ISSUER,
    jwks_uri: 'https://127.0.0.1:6443/openid/v1/jwks',
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
  })
  const [jwk] = read('/openid/v1/jwks').keys
  assert.equal(documents.get('/openid/v1/jwks')?.contentType, 'application/jwk-set+json')
  const { subtle } = globalThis.crypto
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' }
  const key = await subtle.importKey('jwk', jwk, algorithm, false, ['verify'])
  const [header, claims, signature] = tokens.issue(account, ['x'], 600).split('.') as [string, string, string]
  const decoded = Buffer.from(signature, 'base64url')
  const signed = Buffer.from(`${header}.${claims}`)
  assert.ok(await subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, decoded, signed))
  assert.equal(JSON.parse(Buffer.from(header, 'base64url').toString()).kid, jwk.kid)
})
