import { define } from './harness/crd.js'
import type { Loose } from './harness/http.js'
import { withoutNumbers } from './harness/kinds.js'
import { conformance } from './harness/suite.js'

const text = (kilobytes: number) => 'x'.repeat(kilobytes * 1024)

/**
 * Reduces an object to its size. For a rejection, removes the number of bytes, which depends on the length of
 * names.
 */
const pick = (body: Loose) =>
  body.kind === 'Status'
    ? withoutNumbers(body)
    : { kind: body.kind, kilobytes: Math.round(JSON.stringify({ ...body, metadata: {} }).length / 1024) }

const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

conformance('size', {
  'a custom resource is at most 1.5 MiB': async (t) => {
    const widgets = await define(t)
    const path = widgets.path(await t.namespace())
    for (const size of [1500, 1535, 1536, 2000, 2048, 2900]) {
      await t.post(path, widgets.object(`a-${size}`, { spec: { a: text(size) } }), { pick })
    }
    await t.post(path, widgets.object('dry', { spec: { a: text(2000) } }), { query: { dryRun: 'All' }, pick })
    await t.post(path, widgets.object('huge', { spec: { a: text(3100) } }), { pick })
  },
  'no write makes an object larger': async (t) => {
    const widgets = await define(t, {
      properties: { spec: open, status: open },
      version: { subresources: { status: {} } },
    })
    const path = widgets.path(await t.namespace())
    await t.must('POST', path, { body: widgets.object('a', { spec: { a: text(1000) } }) })
    const a = `${path}/a`
    await t.mergePatch(a, { spec: { b: text(1000) } }, { pick })
    await t.mergePatch(a, { spec: { b: text(1600) } }, { pick })
    await t.jsonPatch(a, [{ op: 'add', path: '/spec/b', value: text(1000) }], { pick })
    await t.jsonPatch(a, [{ op: 'copy', from: '/spec/a', path: '/spec/b' }], { pick })
    await t.apply(a, 'm', widgets.object('a', { spec: { b: text(1000) } }), { pick })
    await t.apply(`${path}/new`, 'm', widgets.object('new', { spec: { b: text(1600) } }), { pick })
    await t.mergePatch(`${a}/status`, { status: { b: text(1000) } }, { pick })
    const { body } = await t.must('GET', a)
    await t.put(a, { ...body, spec: { a: text(2000) } }, { pick })
    await t.put(`${a}/status`, { ...body, status: { a: text(1000) } }, { pick })
    await t.mergePatch(a, { spec: { b: text(1000) } }, { query: { dryRun: 'All' }, pick })
    await t.get(a, { pick })
  },
  'managedFields are dropped when an object fits only without them': async (t) => {
    const widgets = await define(t)
    const path = widgets.path(await t.namespace())
    const owned = (body: Loose) =>
      body.kind === 'Status' ? withoutNumbers(body) : { owners: body.metadata.managedFields?.length ?? 0 }
    const many = Object.fromEntries(Array.from({ length: 40_000 }, (_, i) => [`field-with-a-long-name-${i}`, 1]))
    await t.post(path, widgets.object('a', { spec: many }), { pick: owned })
    await t.post(path, widgets.object('b', { spec: { a: 1 } }), { pick: owned })
    await t.mergePatch(`${path}/b`, { spec: many }, { pick: owned })
    await t.apply(`${path}/c`, 'm', widgets.object('c', { spec: many }), { pick: owned })
  },
  'built-in kinds are measured as protobuf': async (t) => {
    const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
    const rules = (count: number) =>
      Array.from({ length: count }, (_, i) => ({
        apiGroups: ['some.example.com'],
        resources: [`resource-number-${i}`],
        verbs: ['get', 'list'],
      }))
    for (const count of [10_000, 25_000, 30_000]) {
      const name = `role-${count}-${t.id}`
      t.cleanup(() => t.quiet('DELETE', `${roles}/${name}`))
      await t.post(roles, { metadata: { name }, rules: rules(count) }, { pick })
    }
  },
})
