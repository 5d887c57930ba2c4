import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ProviderConfiguration } from '@crosstie/resources/provider'
import { ident, literal, sameSetting, setting } from './quote.js'
import { fits, scramVerifier } from './scram.js'
import { connect, versionText } from './server.js'
import { connectionTo, targetOf } from './target.js'

const config = (credentials: string | undefined, spec: object = {}): ProviderConfiguration => ({
  name: 'mine',
  revision: 'uid/1/x',
  spec: spec as never,
  credentials,
})

interface Case {
  readonly because: string
  readonly credentials: string
  readonly spec?: object
  readonly want: object | RegExp
}

const cases: Record<string, Case> = {
  Url: {
    because: 'a URL says it all',
    credentials: 'postgresql://ann%40a:p%2Fw@db.example.org:6432/main?sslmode=require',
    want: { host: 'db.example.org', port: 6432, user: 'ann@a', password: 'p/w', database: 'main', sslMode: 'require' },
  },
  Keys: {
    because: 'a connection Secret has keys',
    credentials: '{"endpoint":"::1","port":"5433","username":"ann","password":"pw"}',
    spec: { defaultDatabase: 'main', sslMode: 'disable' },
    want: { host: '::1', port: 5433, user: 'ann', password: 'pw', database: 'main', sslMode: 'disable' },
  },
  Defaults: {
    because: 'port, database and sslMode need not be given',
    credentials: '{"host":"db","user":"ann"}',
    want: { host: 'db', port: 5432, user: 'ann', password: undefined, database: 'postgres', sslMode: 'prefer' },
  },
  UriKey: {
    because: 'a Secret may hold just a uri',
    credentials: '{"uri":"postgres://ann:pw@[::1]/"}',
    want: { host: '::1', user: 'ann', password: 'pw' },
  },
  ConfigWins: {
    because: 'the ProviderConfig is nearer than the URL',
    credentials: 'postgresql://a:b@c/d?sslmode=disable',
    spec: { defaultDatabase: 'e', sslMode: 'verify-full' },
    want: { database: 'e', sslMode: 'verify-full' },
  },
  NoEndpoint: {
    because: 'nowhere to go',
    credentials: '{"username":"ann"}',
    want: /ProviderConfig mine name no endpoint/,
  },
  NoUser: { because: 'as whom?', credentials: 'postgresql://db', want: /name no username/ },
  NoPort: { because: 'no number', credentials: '{"host":"db","user":"a","port":"x"}', want: /a port that is none/ },
  Nonsense: {
    because: 'neither URL nor JSON',
    credentials: 's3cr3t',
    want: /neither a URL nor JSON: give a connection URL/,
  },
  NoObject: { because: 'JSON, but no object', credentials: '"s3cr3t"', want: /no JSON object/ },
}

for (const [name, { because, credentials, spec, want }] of Object.entries(cases)) {
  test(`credentials: ${name}`, () => {
    const read = () => targetOf(config(credentials, spec))
    if (want instanceof RegExp) {
      assert.throws(read, want, because)
      assert.throws(read, (error: Error) => !error.message.includes('s3cr3t'), 'and shows none of it')
    } else {
      const target = read() as unknown as Record<string, unknown>
      for (const [key, value] of Object.entries(want)) assert.deepEqual(target[key], value, `${because}: ${key}`)
    }
  })
}

test('a server is kept for a revision of its configuration', () => {
  const context = (revision: string) =>
    ({ config: { ...config('postgresql://a:b@c'), revision }, trackChanges: () => () => {} }) as unknown as Parameters<
      typeof connect
    >[0]
  assert.equal(connect(context('a')).shared, connect(context('a')).shared)
  assert.notEqual(connect(context('a')).shared, connect(context('b')).shared)
  assert.throws(() => connect({ config: undefined } as Parameters<typeof connect>[0]), /needs a ProviderConfig/)
})

test('a uri is published when all of it is known, with whatever is in it', () => {
  const target = targetOf(config('{"host":"::1","user":"a","port":"1"}', { sslMode: 'require' }))
  const who = { username: 'a@b', password: 'p/w?', database: 'd b' }
  assert.equal(connectionTo(target, who)['uri'], 'postgresql://a%40b:p%2Fw%3F@[::1]:1/d%20b?sslmode=require')
  assert.equal(connectionTo(target, { database: 'd' })['uri'], undefined)
})

test('names and texts are quoted, settings that are lists are lists', () => {
  assert.equal(ident('a"b'), '"a""b"')
  assert.equal(literal("it's \\ here"), " E'it''s \\\\ here'")
  assert.equal(setting('work_mem', "8MB'; DROP"), `SET "work_mem" TO '8MB''; DROP'`)
  assert.equal(setting('search_path', '"$user", App,  "a,b"'), `SET "search_path" TO '$user', 'app', 'a,b'`)
  assert.equal(setting('my.own', 'x'), `SET "my"."own" TO 'x'`)
  assert.ok(sameSetting('search_path', 'a,b', '"a", b'))
  assert.ok(!sameSetting('search_path', 'a, b', '"a,b"'))
  assert.ok(!sameSetting('work_mem', '1MB', '1024kB'))
  assert.throws(() => ident(''), /cannot be empty/)
  assert.equal(ident('ä'.repeat(31)), `"${'ä'.repeat(31)}"`)
  assert.throws(() => ident('ä'.repeat(32)), /has 64 bytes/)
})

test('the verifier of RFC 7677 and the old one of PostgreSQL are known', async () => {
  // The salt and the count are those of the example in RFC 7677. StoredKey and ServerKey follow from its password.
  const verifier = await scramVerifier('pencil', Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64'), 4096)
  assert.equal(
    verifier,
    'SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=',
  )
  assert.equal(fits('pencil', 'user', verifier), true)
  assert.equal(fits('pen', 'user', verifier), false)
  assert.equal(fits('pencil', 'user', verifier), true, 'whatever was asked before')
  assert.equal(fits('secret', 'ann', 'md5e1e60bd1cdf0e8ecf9ab8c66ca92b4b4'), false)
  assert.equal(fits('x', 'ann', 'whatever'), undefined)
})

test('versions are told as people tell them', () => {
  assert.deepEqual([180004, 150018, 90624].map(versionText), ['18.4', '15.18', '9.6.24'])
})
