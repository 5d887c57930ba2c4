import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Ordered } from './ordered.js'

const keys = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 3000 })), { maxLength: 4000, size: 'max' })
const keyOf = (n: number) => String(n).padStart(4, '0')

test('inserting and removing in any order equals sorting', () => {
  fc.assert(
    fc.property(keys, fc.integer({ min: 0, max: 3000 }), (steps, probe) => {
      const ordered = new Ordered<{ key: string }>()
      const model = new Set<string>()
      for (const [add, n] of steps) {
        const key = keyOf(n)
        if (add && !model.has(key)) ordered.insert({ key })
        if (!add) ordered.remove(key)
        if (add) model.add(key)
        else model.delete(key)
      }
      const sorted = [...model].sort()
      assert.equal(ordered.size, sorted.length)
      assert.deepEqual(
        [...ordered.from('')].map(({ key }) => key),
        sorted,
      )
      const from = sorted.filter((key) => key >= keyOf(probe))
      assert.deepEqual(
        [...ordered.from(keyOf(probe))].map(({ key }) => key),
        from,
      )
      const position = ordered.position(keyOf(probe))
      assert.equal(position, sorted.length - from.length)
      const page: string[] = []
      ordered.each(position, position + 700, ({ key }) => page.push(key))
      assert.deepEqual(page, from.slice(0, 700))
    }),
    { numRuns: 30 },
  )
})

test('many keys in ascending, descending and mixed order stay sorted through every split and merge', () => {
  for (const order of ['up', 'down', 'mixed']) {
    const ordered = new Ordered<{ key: string }>()
    const numbers = Array.from({ length: 5000 }, (_, i) => (order === 'mixed' ? (i * 7919) % 5000 : i))
    if (order === 'down') numbers.reverse()
    for (const n of numbers) ordered.insert({ key: keyOf(n) })
    assert.equal(ordered.position(keyOf(2500)), 2500, order)
    for (const n of numbers) if (n % 10 !== 0) ordered.remove(keyOf(n))
    assert.deepEqual(
      [...ordered.from('')].map(({ key }) => key),
      Array.from({ length: 500 }, (_, i) => keyOf(i * 10)),
      order,
    )
    for (const n of numbers) ordered.remove(keyOf(n))
    assert.equal(ordered.size, 0)
    assert.deepEqual([...ordered.from('')], [])
  }
})
