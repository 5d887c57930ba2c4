import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type DeletedMember, departure } from './deletion-order.js'

const member = (id: string, ...needs: string[]): DeletedMember => ({ id, needs, retained: false })
const kept = (id: string, ...needs: string[]): DeletedMember => ({ id, needs, retained: true })

interface Case {
  readonly because: string
  readonly given: readonly DeletedMember[]
  readonly now: readonly string[]
  readonly cycles?: readonly (readonly string[])[]
}

const cases: Record<string, Case> = {
  Chain: {
    because: 'what others need goes after them',
    given: [member('group'), member('server', 'group'), member('rule', 'server', 'group')],
    now: ['rule'],
  },
  Independent: { because: 'nobody needs anybody', given: [member('a'), member('b')], now: ['a', 'b'] },
  Outside: { because: 'what is not a part is not ours to order', given: [member('a', 'elsewhere')], now: ['a'] },
  Kept: { because: 'what stays holds up nothing', given: [member('group'), kept('server', 'group')], now: ['group'] },
  Circle: {
    because: 'no order is right',
    given: [member('a', 'b'), member('b', 'a'), member('c', 'a')],
    now: ['c'],
    cycles: [['a', 'b']],
  },
  FreeCircle: {
    because: 'they go together',
    given: [member('a', 'b'), member('b', 'a')],
    now: ['a', 'b'],
    cycles: [['a', 'b']],
  },
  Itself: { because: 'a part may name itself', given: [member('a', 'a')], now: ['a'] },
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
            member(`${i}`, ...edges.filter(([from]) => from === i).map(([, to]) => `${to}`)),
          ),
        ),
    )
  fc.assert(
    fc.property(graph, (members) => {
      let left = members
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
  const members = Array.from({ length: 10_000 }, (_, i) => member(`${i}`, `${i + 1}`))
  assert.deepEqual(departure(members).now, ['0'])
})
