import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { departure, type Leaving } from './order.js'

const part = (id: string, ...needs: string[]): Leaving => ({ id, needs, retained: false })
const kept = (id: string, ...needs: string[]): Leaving => ({ id, needs, retained: true })

interface Case {
  readonly because: string
  readonly given: readonly Leaving[]
  readonly now: readonly string[]
  readonly cycles?: readonly (readonly string[])[]
}

const cases: Record<string, Case> = {
  Chain: {
    because: 'what others need goes after them',
    given: [part('group'), part('server', 'group'), part('rule', 'server', 'group')],
    now: ['rule'],
  },
  Independent: { because: 'nobody needs anybody', given: [part('a'), part('b')], now: ['a', 'b'] },
  Outside: { because: 'what is not a part is not ours to order', given: [part('a', 'elsewhere')], now: ['a'] },
  Kept: { because: 'what stays holds up nothing', given: [part('group'), kept('server', 'group')], now: ['group'] },
  Circle: {
    because: 'no order is right',
    given: [part('a', 'b'), part('b', 'a'), part('c', 'a')],
    now: ['c'],
    cycles: [['a', 'b']],
  },
  FreeCircle: {
    because: 'they go together',
    given: [part('a', 'b'), part('b', 'a')],
    now: ['a', 'b'],
    cycles: [['a', 'b']],
  },
  Itself: { because: 'a part may name itself', given: [part('a', 'a')], now: ['a'] },
}

for (const [name, { because, given, now, cycles = [] }] of Object.entries(cases)) {
  test(`${name}: ${because}`, () => {
    const plan = departure(given)
    assert.deepEqual([...plan.now].sort(), now)
    assert.deepEqual(plan.cycles, cycles)
  })
}

test('any graph ends, and but for circles nothing goes before what needs it', () => {
  const graph = fc
    .integer({ min: 1, max: 40 })
    .chain((size) =>
      fc
        .array(fc.tuple(fc.nat(size - 1), fc.nat(size - 1)), { maxLength: size * 3 })
        .map((edges) =>
          Array.from({ length: size }, (_, i) =>
            part(`${i}`, ...edges.filter(([from]) => from === i).map(([, to]) => `${to}`)),
          ),
        ),
    )
  fc.assert(
    fc.property(graph, (parts) => {
      let left = parts
      while (left.length > 0) {
        const { now, cycles } = departure(left)
        assert.ok(now.length > 0, 'something may always go')
        const circle = (id: string) => cycles.find((members) => members.includes(id)) ?? [id]
        for (const id of now) {
          const needing = left.filter((other) => other.needs.includes(id) && !circle(id).includes(other.id))
          assert.deepEqual(needing, [])
        }
        left = left.filter(({ id }) => !now.includes(id))
      }
    }),
  )
})

test('a chain of 10,000 is no problem', () => {
  const parts = Array.from({ length: 10_000 }, (_, i) => part(`${i}`, `${i + 1}`))
  assert.deepEqual(departure(parts).now, ['0'])
})
