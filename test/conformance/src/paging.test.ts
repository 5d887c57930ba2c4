import type { Case } from './harness/case.js'
import { define } from './harness/crd.js'
import type { Answer, Loose } from './harness/http.js'
import { configMap, configMapsIn, withoutNumbers } from './harness/kinds.js'
import { conformance } from './harness/suite.js'

const MINE = { labelSelector: 'mine' }

async function many(t: Case, count: number): Promise<string> {
  const all = configMapsIn(await t.namespace())
  // The server creates this ConfigMap in every namespace. The end of a page depends on it.
  await t.until(`${all}/kube-root-ca.crt`, ({ status }) => status === 200)
  for (let i = 0; i < count; i++) {
    await t.must('POST', all, {
      body: configMap(`cm-${i}`, {}, { labels: { mine: 'yes', even: String(i % 2 === 0) } }),
    })
  }
  return all
}

const page = (body: Loose): Loose =>
  body.items
    ? {
        names: body.items.map((item: Loose) => item.metadata.name),
        remaining: body.metadata.remainingItemCount,
        continues: Boolean(body.metadata.continue),
      }
    : body

async function pages(t: Case, path: string, query: Record<string, string | number>): Promise<Answer[]> {
  const found = [await t.get(path, { query, pick: page })]
  for (let next = found[0]!.body.metadata.continue; next; next = found.at(-1)!.body.metadata.continue) {
    found.push(await t.quiet('GET', path, { query: { ...query, continue: next } }))
    t.see(`page ${found.length}`, page(found.at(-1)!.body))
  }
  t.see('one revision for all pages', new Set(found.map(({ body }) => body.metadata.resourceVersion)).size)
  return found
}

conformance('paging', {
  'limit gives pages and says how many remain': async (t) => {
    const all = await many(t, 7)
    await pages(t, all, { limit: 3, fieldSelector: '', labelSelector: '' })
  },
  'limit with a selector does not say how many remain': async (t) => {
    const all = await many(t, 7)
    await pages(t, all, { limit: 3, ...MINE })
    await pages(t, all, { limit: 2, labelSelector: 'even=true' })
  },
  'numbers that 64 bits cannot hold are refused': async (t) => {
    const all = configMapsIn(await t.namespace())
    for (const value of ['99999999999999999999', '9223372036854775808', '-9223372036854775809', '1.5', '"', 'é']) {
      await t.get(all, { query: { limit: value } })
      await t.get(all, { query: { timeoutSeconds: value } })
    }
    for (const value of ['18446744073709551616', '99999999999999999999', '"', 'a\nb', '-1', '+1']) {
      await t.get(all, { query: { resourceVersion: value } })
      await t.get(all, { query: { watch: true, resourceVersion: value } })
      await t.get(`${all}/kube-root-ca.crt`, { query: { resourceVersion: value } })
    }
  },
  'a limit that covers all has no continue': async (t) => {
    const all = await many(t, 3)
    await t.get(all, { query: { limit: 3, ...MINE }, pick: page })
    await t.get(all, { query: { limit: 0, ...MINE }, pick: page })
    await t.get(all, { query: { limit: 500, ...MINE }, pick: page })
    await t.get(all, { query: { limit: -1, ...MINE }, pick: page })
  },
  'pages are of one moment': async (t) => {
    const all = await many(t, 4)
    const first = await t.quiet('GET', all, { query: { limit: 2, ...MINE } })
    await t.must('DELETE', `${all}/cm-3`)
    await t.must('POST', all, { body: configMap('cm-2a', {}, { labels: { mine: 'yes' } }) })
    await t.must('PUT', `${all}/cm-2`, { body: configMap('cm-2', { changed: 'yes' }, { labels: { mine: 'yes' } }) })
    const second = await t.quiet('GET', all, { query: { limit: 2, ...MINE, continue: first.body.metadata.continue } })
    t.see('second page', { ...page(second.body), data: second.body.items.map((item: Loose) => item.data ?? null) })
    t.see('same revision', first.body.metadata.resourceVersion === second.body.metadata.resourceVersion)
  },
  'continue tokens that make no sense': async (t) => {
    const all = await many(t, 1)
    await t.get(all, { query: { limit: 1, continue: 'bm9uc2Vuc2U' } })
    await t.get(all, { query: { limit: 1, continue: Buffer.from('{}').toString('base64url') } })
    await t.get(all, {
      query: { limit: 1, continue: Buffer.from('{"v":"meta.k8s.io/v1","rv":5,"start":"../x"}').toString('base64url') },
    })
    await t.get(all, {
      query: { limit: 1, continue: Buffer.from('{"v":"v0","rv":5,"start":"a"}').toString('base64url') },
    })
  },
  'continue with a resourceVersion is refused': async (t) => {
    const all = await many(t, 2)
    const first = await t.quiet('GET', all, { query: { limit: 1, ...MINE } })
    const token = first.body.metadata.continue
    const refused: Record<string, string>[] = [
      { resourceVersion: '5' },
      { resourceVersion: '0' },
      { resourceVersionMatch: 'Exact', resourceVersion: '5' },
      { resourceVersionMatch: 'NotOlderThan' },
    ]
    for (const more of refused) {
      const answer = await t.quiet('GET', all, { query: { limit: 1, ...MINE, continue: token, ...more } })
      t.see(JSON.stringify(more), answer.status === 200 ? page(answer.body) : { ...answer.body })
    }
  },
  'a continue token works without a limit': async (t) => {
    const all = await many(t, 4)
    const first = await t.quiet('GET', all, { query: { limit: 1, ...MINE } })
    const rest = await t.quiet('GET', all, { query: { ...MINE, continue: first.body.metadata.continue } })
    t.see('rest', page(rest.body))
  },
  'a list at an exact revision': async (t) => {
    const all = await many(t, 2)
    const { resourceVersion } = (await t.quiet('GET', all, { query: MINE })).body.metadata
    await t.must('DELETE', `${all}/cm-0`)
    // Reads with resourceVersion=0 come from a cache, which sees the delete with a delay.
    await t.until(`${all}?resourceVersion=0&labelSelector=mine`, ({ body }) => body.items.length === 1)
    await t
      .get(all, {
        query: { ...MINE, resourceVersion, resourceVersionMatch: 'Exact' },
        pick: (body) => ({ ...page(body), same: body.metadata.resourceVersion === resourceVersion }),
      })
      .then(() => hideRevision(t))
    await t
      .get(all, {
        query: { ...MINE, resourceVersion, resourceVersionMatch: 'NotOlderThan' },
        pick: (body) => ({
          names: page(body).names,
          newer: Number(body.metadata.resourceVersion) > Number(resourceVersion),
        }),
      })
      .then(() => hideRevision(t))
    await t.get(all, { query: { ...MINE, resourceVersion: '0', resourceVersionMatch: 'Exact' } })
    await t
      .get(all, { query: { ...MINE, resourceVersion, resourceVersionMatch: 'Exact', limit: 1 }, pick: page })
      .then(() => hideRevision(t))
    await t.get(all, { query: { ...MINE, resourceVersion, limit: 1 }, pick: page }).then(() => hideRevision(t))
  },
  'a list at a revision from the future': async (t) => {
    const all = await many(t, 1)
    await t.get(all, { query: { ...MINE, resourceVersion: '9000000000' }, pick: withoutNumbers, show: ['retry-after'] })
    await t.get(all, {
      query: { ...MINE, resourceVersion: '9000000000', resourceVersionMatch: 'Exact' },
      pick: withoutNumbers,
      show: ['retry-after'],
    })
    await t.get(`${all}/cm-0`, { query: { resourceVersion: '9000000000' }, pick: withoutNumbers })
  },
  'a get at a revision': async (t) => {
    const all = await many(t, 1)
    const { resourceVersion } = (await t.quiet('GET', `${all}/cm-0`)).body.metadata
    await t.until(`${all}/cm-0?resourceVersion=0`, ({ status }) => status === 200)
    await t.get(`${all}/cm-0`, { query: { resourceVersion: '0' } })
    await t.get(`${all}/cm-0`, { query: { resourceVersion } }).then(() => hideRevision(t))
    await t.get(`${all}/cm-0`, { query: { resourceVersion: 'abc' } })
  },
  'custom objects: pages': async (t) => {
    const widgets = await define(t)
    const all = widgets.path(await t.namespace())
    for (let i = 0; i < 5; i++) await t.must('POST', all, { body: widgets.object(`w-${i}`) })
    await pages(t, all, { limit: 2 })
    await pages(t, widgets.path(), { limit: 2 })
  },
  'pages go over namespaces in order': async (t) => {
    const widgets = await define(t)
    const [one, two] = [await t.namespace('-1'), await t.namespace('-2')]
    for (const [ns, name] of [
      [two, 'a'],
      [one, 'b'],
      [one, 'a'],
      [two, 'b'],
    ] as const) {
      await t.must('POST', widgets.path(ns), { body: widgets.object(name) })
    }
    const key = (item: Loose) => `${item.metadata.namespace}/${item.metadata.name}`
    const first = await t.quiet('GET', widgets.path(), { query: { limit: 3 } })
    const second = await t.quiet('GET', widgets.path(), { query: { limit: 3, continue: first.body.metadata.continue } })
    t.see('order', [...first.body.items, ...second.body.items].map(key))
  },
  'paging of tables': async (t) => {
    const all = await many(t, 3)
    const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1'
    const first = await t.quiet('GET', all, { query: { limit: 2, ...MINE }, accept })
    t.see('first', {
      rows: first.body.rows.map((row: Loose) => row.cells[0]),
      continues: Boolean(first.body.metadata.continue),
    })
    const second = await t.quiet('GET', all, {
      query: { limit: 2, ...MINE, continue: first.body.metadata.continue },
      accept,
    })
    t.see('second', {
      rows: second.body.rows.map((row: Loose) => row.cells[0]),
      continues: Boolean(second.body.metadata.continue),
    })
  },
  'deletecollection in pages': async (t) => {
    const all = await many(t, 5)
    await t.delete(all, undefined, { query: { limit: 2, ...MINE }, pick: (body) => body.items?.length ?? body })
    await t.get(all, { query: MINE, pick: page })
  },
})

/** Removes the revision in the path of the last step, which differs between runs. */
function hideRevision(t: Case): void {
  const last = t.steps.pop()!
  t.steps.push({ ...last, step: last.step.replace(/resourceVersion=\d+/, 'resourceVersion=N') })
}
