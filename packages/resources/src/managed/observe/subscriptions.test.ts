import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '@crosstie/kube'
import { Subscriptions } from './subscriptions.js'

const object = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name, uid: `uid-${name}` },
})

test('an object follows just the topics that it named last, each subscribed to once', () => {
  const subscriptions = new Subscriptions()
  const woken: string[] = []
  const log: string[] = []
  const changed = new Map<string, () => void>()
  const end = subscriptions.begin(({ name }) => woken.push(name))
  const subscribe = (topic: string, tell: () => void) => {
    log.push(`+${topic}`)
    changed.set(topic, tell)
    return () => log.push(`-${topic}`)
  }
  subscriptions.of(object('a'))(['x', 'y', 'x'], subscribe)
  subscriptions.of(object('a'))(['x', 'z'], subscribe)
  assert.deepEqual(log, ['+x', '+y', '+z', '-y'])
  changed.get('z')!()
  assert.deepEqual(woken, ['a'])

  subscriptions.of(object('b'))(['x'], subscribe)
  subscriptions.forget('uid-a')
  assert.deepEqual(log.slice(4), ['+x', '-x', '-z'])
  end()
  assert.deepEqual(log.slice(7), ['-x'])
  changed.get('x')!()
  assert.deepEqual(woken, ['a'], 'nobody is woken after the end')
})
