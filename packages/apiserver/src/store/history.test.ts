import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MemoryStore } from './memory.js'
import { keysOf, put, remove } from './scenario.js'

type Step = { readonly do: 'put' | 'delete'; readonly n: number } | { readonly do: 'compact'; readonly back: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('put' as const), n: fc.nat(15) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('delete' as const), n: fc.nat(15) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('compact' as const), back: fc.nat(20) }) },
)
const prefixes = ['', '/t/a/', '/t/b/', '/t/c/']
const keyOf = (n: number) => `/t/${n % 2 === 0 ? 'a' : 'b'}/${n}`

test('lists, pages and counts are reproducible at every retained revision', async () => {
  const property = fc.asyncProperty(fc.array(step, { maxLength: 80 }), fc.integer({ min: 1, max: 5 }), check)
  await fc.assert(property, { numRuns: 60 })
})

async function check(steps: readonly Step[], limit: number): Promise<void> {
  const store = new MemoryStore()
  const keys = new Set<string>()
  const states = new Map([[store.revision, [] as string[]]])
  for (const step of steps) {
    if (step.do === 'compact') await store.compact(Math.max(1, store.revision - step.back))
    else {
      const key = keyOf(step.n)
      if (step.do === 'delete' && !keys.has(key)) continue
      if (step.do === 'put') keys.add(key)
      else keys.delete(key)
      await store.write([step.do === 'put' ? put(key) : remove(key)])
      states.set(store.revision, [...keys].sort())
    }
  }
  for (const [revision, state] of states) {
    if (revision < store.compacted) {
      assert.throws(() => store.list('', { revision }), { name: 'CompactedError' })
      continue
    }
    for (const prefix of prefixes) {
      const want = state.filter((key) => key.startsWith(prefix))
      assert.deepEqual(keysOf(store.list(prefix, { revision })), want)
      const pages: string[] = []
      for (let after: string | undefined; ; after = pages.at(-1)) {
        const page = store.list(prefix, { revision, limit, ...(after === undefined ? {} : { after }) })
        pages.push(...keysOf(page))
        assert.equal(page.remaining, want.length - pages.length, `remaining of ${prefix} at ${revision}`)
        if (page.remaining === 0) break
      }
      assert.deepEqual(pages, want)
    }
  }
  for (const prefix of prefixes) assert.equal(store.count(prefix), [...keys].filter((k) => k.startsWith(prefix)).length)
  await store.close()
}
