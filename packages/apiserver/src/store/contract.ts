import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create, keysOf, put, remove, specOf, thing } from './scenario.js'
import { type Change, CompactedError, FutureRevisionError, PreconditionError, type Store, type Write } from './store.js'

/** The contract of every store. `open` returns an empty store. */
export function storeContract(name: string, open: () => Promise<Store>): void {
  const check = (what: string, body: (store: Store) => Promise<void>) =>
    test(`${name}: ${what}`, async () => {
      const store = await open()
      try {
        await body(store)
      } finally {
        await store.close()
      }
    })

  check('a create is read back with its revision, as object and as bytes', async (store) => {
    const [change] = await store.write([create('/t/things/a', { color: 'red' })])
    const stored = store.get('/t/things/a')!
    assert.equal(change!.type, 'ADDED')
    assert.equal(change!.before, undefined)
    assert.equal(stored.revision, change!.revision)
    assert.equal(store.revision, change!.revision)
    assert.equal(stored.object.metadata.resourceVersion, String(change!.revision))
    assert.deepEqual(JSON.parse(Buffer.from(stored.bytes).toString()), stored.object)
  })

  check('a write does not change the object that was passed in', async (store) => {
    const object = Object.freeze({ ...thing('a'), metadata: Object.freeze({ name: 'a' }) })
    await store.write([{ do: 'put', key: '/t/things/a', object, expect: 'absent' }])
    assert.deepEqual(object, thing('a'))
  })

  check('keys such as __proto__ and integers beyond 2^53 survive', async (store) => {
    const spec = JSON.parse('{"__proto__":{"x":1},"constructor":2,"text":"9007199254740993 \\u0001"}')
    const big = { ...spec, big: 9223372036854775807n }
    await store.write([create('/t/things/a', big)])
    const text = Buffer.from(store.get('/t/things/a')!.bytes).toString()
    assert.match(text, /"__proto__":\{"x":1\},"constructor":2/)
    assert.match(text, /"big":9223372036854775807/)
    assert.equal((specOf(store.get('/t/things/a')) as { big: bigint }).big, 9223372036854775807n)
  })

  check('of two writes that expect the same revision, exactly one succeeds', async (store) => {
    const [{ revision }] = (await store.write([create('/t/things/a')])) as [Change]
    const attempts = [1, 2].map((n) => store.write([put('/t/things/a', { n }, revision)]))
    const outcomes = await Promise.allSettled(attempts)
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected'],
    )
    assert.ok((outcomes[1] as PromiseRejectedResult).reason instanceof PreconditionError)
    assert.deepEqual(specOf(store.get('/t/things/a')), { n: 1 })
  })

  check('a write whose expectation does not hold is refused with the tip', async (store) => {
    await assert.rejects(store.write([remove('/t/things/a')]), PreconditionError)
    await assert.rejects(store.write([put('/t/things/a', {}, 7)]), PreconditionError)
    const [{ revision }] = (await store.write([create('/t/things/a')])) as [Change]
    await assert.rejects(store.write([create('/t/things/a')]), (error: PreconditionError) => {
      assert.equal(error.key, '/t/things/a')
      assert.equal(error.tip?.revision, revision)
      return true
    })
    await assert.rejects(store.write([remove('/t/things/a', revision + 1)]), PreconditionError)
    await store.write([remove('/t/things/a', revision)])
    assert.equal(store.get('/t/things/a'), undefined)
  })

  check('refused writes have no effect and use no revisions', async (store) => {
    await store.write([create('/t/things/a')])
    const { revision } = store
    await assert.rejects(store.write([create('/t/things/b'), create('/t/things/a')]), PreconditionError)
    assert.equal(store.tip('/t/things/b'), undefined)
    const [change] = await store.write([create('/t/things/c')])
    assert.equal(change!.revision, revision + 1)
  })

  check('several writes see the earlier ones of the same call', async (store) => {
    const changes = await store.write([create('/t/things/a'), remove('/t/things/a'), create('/t/things/a', { n: 2 })])
    assert.deepEqual(
      changes.map(({ type }) => type),
      ['ADDED', 'DELETED', 'ADDED'],
    )
    assert.deepEqual(specOf(store.get('/t/things/a')), { n: 2 })
  })

  check('writers build on the tip, readers see only durable changes', async (store) => {
    const written = store.write([create('/t/things/a', { n: 1 })])
    const tip = store.tip('/t/things/a')!
    assert.deepEqual(specOf(tip), { n: 1 })
    assert.equal(store.get('/t/things/a'), undefined)
    assert.equal(store.count('/t/'), 0)
    const next = store.write([put('/t/things/a', { n: 2 }, tip.revision)])
    await Promise.all([written, next])
    assert.deepEqual(specOf(store.get('/t/things/a')), { n: 2 })
    assert.equal(store.tip('/t/things/a'), store.get('/t/things/a'))
  })

  check('the tip of a key with a pending deletion is absent', async (store) => {
    await store.write([create('/t/things/a')])
    const gone = store.write([remove('/t/things/a')])
    assert.equal(store.tip('/t/things/a'), undefined)
    assert.ok(store.get('/t/things/a'))
    await Promise.all([gone, store.write([create('/t/things/a', { again: true })])])
    assert.deepEqual(specOf(store.get('/t/things/a')), { again: true })
  })

  check('a deletion reports the last state with the revision of the deletion', async (store) => {
    await store.write([create('/t/things/a', { n: 1 }), create('/t/things/b', { n: 1 })])
    const [a] = await store.write([remove('/t/things/a')])
    assert.equal(a!.type, 'DELETED')
    assert.equal(a!.now.object.metadata.resourceVersion, String(a!.revision))
    assert.deepEqual(specOf(a!.now), { n: 1 })
    assert.deepEqual(specOf(a!.before), { n: 1 })
    assert.equal(a!.before!.object.metadata.resourceVersion, String(a!.before!.revision))
    const words: Write = { do: 'delete', key: '/t/things/b', expect: 'any', object: thing('b', { last: 'words' }) }
    const [b] = await store.write([words])
    assert.deepEqual(specOf(b!.now), { last: 'words' })
  })

  check('listeners get every change in order, when readers see it', async (store) => {
    const heard: Change[] = []
    const stop = store.subscribe((changes) => {
      assert.equal(store.revision, changes.at(-1)!.revision)
      heard.push(...changes)
    })
    store.subscribe(() => {
      throw new Error('an error of a listener does not fail the write')
    })
    const writes = Array.from({ length: 50 }, (_, i) => store.write([put(`/t/things/${i % 7}`, { i })]))
    await Promise.all(writes)
    assert.deepEqual(
      heard.map(({ revision }) => revision),
      Array.from({ length: 50 }, (_, i) => heard[0]!.revision + i),
    )
    assert.deepEqual(store.changesSince(heard[0]!.revision - 1), heard)
    stop()
    await store.write([create('/t/things/late')])
    assert.equal(heard.length, 50)
  })

  check('lists are in order, by prefix, in pages of one revision', async (store) => {
    const names = ['b', 'a', 'd', 'c', 'e']
    await Promise.all(names.map((n) => store.write([create(`/t/things/ns/${n}`)])))
    await store.write([create('/t/thingsies/ns/x'), create('/t/things/other/a')])
    const all = store.list('/t/things/ns/')
    assert.deepEqual(
      keysOf(all),
      ['a', 'b', 'c', 'd', 'e'].map((n) => `/t/things/ns/${n}`),
    )
    assert.equal(all.remaining, 0)
    assert.equal(store.count('/t/things/'), 6)
    assert.equal(store.count('/t/things/ns/'), 5)
    assert.equal(store.count(''), 7)

    const first = store.list('/t/things/ns/', { limit: 2 })
    assert.deepEqual([keysOf(first).length, first.remaining], [2, 3])
    await store.write([remove('/t/things/ns/c'), create('/t/things/ns/bb'), put('/t/things/ns/d', { changed: true })])
    const { revision } = first
    const second = store.list('/t/things/ns/', { limit: 2, after: first.items[1]!.key, revision })
    assert.deepEqual(keysOf(second), ['/t/things/ns/c', '/t/things/ns/d'])
    assert.deepEqual(specOf(second.items[1]), {})
    assert.deepEqual([second.remaining, second.revision], [1, revision])
    const third = store.list('/t/things/ns/', { limit: 2, after: second.items[1]!.key, revision })
    assert.deepEqual([keysOf(third), third.remaining], [['/t/things/ns/e'], 0])
    assert.deepEqual(keysOf(store.list('/t/things/ns/', { after: '/t/things/ns/d' })), ['/t/things/ns/e'])
    assert.deepEqual(keysOf(store.list('/nothing/')), [])
  })

  check('old revisions can be read until they are compacted', async (store) => {
    const before = store.revision
    const revisions: number[] = []
    for (const spec of [{ n: 1 }, { n: 2 }, { n: 3 }]) {
      revisions.push((await store.write([put('/t/things/a', spec)]))[0]!.revision)
    }
    await store.write([remove('/t/things/a')])
    await store.write([create('/t/things/a', { n: 5 })])
    assert.equal(store.get('/t/things/a', before), undefined)
    assert.deepEqual(
      revisions.map((r) => specOf(store.get('/t/things/a', r))),
      [{ n: 1 }, { n: 2 }, { n: 3 }],
    )
    assert.equal(store.get('/t/things/a', revisions[2]! + 1), undefined)
    assert.deepEqual(specOf(store.get('/t/things/a')), { n: 5 })
    assert.throws(() => store.get('/t/things/a', store.revision + 1), FutureRevisionError)

    await store.compact(revisions[1]!)
    assert.equal(store.compacted, revisions[1])
    assert.throws(() => store.get('/t/things/a', revisions[0]), CompactedError)
    assert.throws(() => store.list('', { revision: revisions[0]! }), CompactedError)
    assert.throws(() => store.changesSince(revisions[0]!), CompactedError)
    assert.deepEqual(specOf(store.get('/t/things/a', revisions[1])), { n: 2 })
    assert.equal(store.changesSince(revisions[1]!).length, 3)
    await store.compact(revisions[0]!)
    assert.equal(store.compacted, revisions[1], 'compaction never moves back')
    await assert.rejects(store.compact(store.revision + 1), FutureRevisionError)
  })

  check('compacting everything keeps the newest state', async (store) => {
    await store.write([create('/t/things/a', { n: 1 }), create('/t/things/b')])
    await store.write([put('/t/things/a', { n: 2 }), remove('/t/things/b')])
    await store.compact(store.revision)
    assert.deepEqual(keysOf(store.list('')), ['/t/things/a'])
    assert.deepEqual(specOf(store.get('/t/things/a')), { n: 2 })
    assert.deepEqual(store.changesSince(store.revision), [])
    await store.write([create('/t/things/b', { again: true })])
    assert.deepEqual(keysOf(store.list('')), ['/t/things/a', '/t/things/b'])
  })

  check('changes are delivered by prefix', async (store) => {
    const { revision } = store
    await store.write([create('/t/things/a'), create('/t/others/a')])
    assert.deepEqual(
      store.changesSince(revision, '/t/others/').map(({ key }) => key),
      ['/t/others/a'],
    )
  })

  check('a closed store refuses new writes and completes accepted ones', async (store) => {
    const written = store.write([create('/t/things/a')])
    const closed = store.close()
    await assert.rejects(store.write([create('/t/things/b')]), { name: 'StoreClosedError' })
    await closed
    assert.equal((await written).length, 1)
  })
}
