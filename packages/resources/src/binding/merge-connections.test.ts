import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mergeConnections } from './merge-connections.js'

const member = (by: string, data: Record<string, string>, prefix = '') => ({ by, data, prefix })

test('AGG7 the keys of all parts together, as in 002', () => {
  const { data, conflicts } = mergeConnections([
    member('a', { username: 'cooluser', password: 'verysecure' }),
    member('b', { url: 'https://example.org' }),
  ])
  assert.deepEqual(data, { username: 'cooluser', password: 'verysecure', url: 'https://example.org' })
  assert.deepEqual(conflicts, [])
})

test('AGG7 of several values the first is used, and the key is named', () => {
  const { data, conflicts } = mergeConnections([
    member('a', { key: '1' }),
    member('b', { key: '2' }),
    member('c', { key: '3' }),
  ])
  assert.deepEqual(data, { key: '1' })
  assert.deepEqual(conflicts, [{ key: 'key', used: 'a', unused: ['b', 'c'] }])
})

test('AGG7 a value that several parts agree on is no conflict', () => {
  const { data, conflicts } = mergeConnections([
    member('a', { host: 'h', port: '1' }),
    member('b', { host: 'h', port: '2' }),
  ])
  assert.deepEqual(data, { host: 'h', port: '1' })
  assert.deepEqual(
    conflicts.map(({ key }) => key),
    ['port'],
  )
})

test('AGG7 a prefix keeps keys apart', () => {
  const { data, conflicts } = mergeConnections([member('a', { key: '1' }, 'a-'), member('b', { key: '2' }, 'b-')])
  assert.deepEqual(data, { 'a-key': '1', 'b-key': '2' })
  assert.deepEqual(conflicts, [])
})

test('a key may have any name', () => {
  const { data } = mergeConnections([member('a', JSON.parse('{"__proto__":"x"}') as Record<string, string>)])
  assert.deepEqual(Object.entries(data), [['__proto__', 'x']])
})
