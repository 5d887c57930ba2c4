import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { connectionUri } from './uri.js'

describe('one address of a connection', () => {
  const mask = () => '***'
  const cases: readonly [string, Record<string, string>, string][] = [
    [
      'PostgreSQL by its port',
      { host: 'db', port: '5432', username: 'me', password: 'a b' },
      'postgresql://me:a%20b@db:5432',
    ],
    ['with a database', { endpoint: 'db', port: '3306', database: 'shop' }, 'mysql://db:3306/shop'],
    ['one that is there already', { uri: 'postgresql://me:x@db/shop', host: 'other' }, 'postgresql://me:x@db/shop'],
    ['an endpoint that is an address', { endpoint: 'https://k8s:6443' }, 'https://k8s:6443'],
    ['an endpoint with a port', { endpoint: 'cache:6379' }, 'redis://cache:6379'],
  ]
  for (const [because, details, want] of cases) {
    test(because, () => assert.equal(connectionUri(details, String), want))
  }
  test('the password is masked wherever it comes from', () => {
    assert.equal(connectionUri({ uri: 'postgresql://me:secret@db/shop' }, mask), 'postgresql://me:***@db/shop')
    assert.equal(connectionUri({ host: 'db', username: 'me', password: 'secret' }, mask), 'tcp://me:***@db')
  })
  test('a Secret without an address is rejected', () => {
    assert.throws(() => connectionUri({ token: 'x' }, mask), /the Secret does not contain an address, only token/)
  })
})
