import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { KubeObject } from '@crosstie/kube'
import { labelValue } from '../metadata/labels.js'
import { bindableName, isBindableName, memberName, secretName } from './names.js'

const claim = (name = 'sql', uid = randomUUID()): KubeObject => ({
  apiVersion: 'database.crossplane.io/v1alpha1',
  kind: 'MySQLInstance',
  metadata: { namespace: 'default', name, uid },
})

test('XN4 names are <namespace>-<name>-<5 random characters>, the same for everybody who looks', () => {
  const one = claim()
  assert.match(bindableName(one), /^default-sql-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
  assert.equal(bindableName(one), bindableName(structuredClone(one)))
  assert.notEqual(bindableName(one), bindableName(claim()))
  assert.ok(isBindableName(one, bindableName(one, 3)))
  assert.ok(!isBindableName(one, 'default-sql-there'))
})

test('XN4 parts of one claim have names of their own', () => {
  const one = claim()
  const names = Array.from({ length: 100 }, (_, i) => memberName(one, { group: 'g', kind: 'K' }, `class-${i}`))
  assert.ok(new Set(names).size >= 99)
  assert.notEqual(memberName(one, { group: 'g', kind: 'K' }, 'a'), memberName(one, { group: 'h', kind: 'K' }, 'a'))
  assert.match(secretName(one, 'K/x'), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
})

test('names that are too long are cut, and stay names', () => {
  const name = bindableName(claim('a'.repeat(200)))
  assert.ok(name.length <= 63)
  assert.match(name, /^default-a+-\w{5}$/)
  assert.ok(labelValue('b'.repeat(200)).length <= 63)
  assert.notEqual(labelValue('b'.repeat(200)), labelValue('b'.repeat(201)))
})
