import { brief, type Case } from './harness/case.js'
import { CRDS, define, hasCondition } from './harness/crd.js'
import { configMap, configMapsIn } from './harness/kinds.js'
import { conformance } from './harness/suite.js'
import type { WatchEvent } from './harness/watch.js'

const MINE = { labelSelector: 'mine' }
const mine = (name: string, data: Record<string, string> = {}, metadata: object = {}) =>
  configMap(name, data, { labels: { mine: 'yes' }, ...metadata })

async function scene(t: Case): Promise<{ all: string; revision: string }> {
  const all = configMapsIn(await t.namespace())
  return { all, revision: (await t.must('GET', all)).body.metadata.resourceVersion }
}

/** Removes the revisions of bookmarks, which change with other writes on the server. */
const withoutBookmarks = (events: readonly WatchEvent[]) =>
  events.map((event) => (event.type === 'BOOKMARK' ? { type: event.type, object: bookmark(event) } : event))
const bookmark = ({ object }: WatchEvent) => ({
  kind: object.kind,
  apiVersion: object.apiVersion,
  annotations: object.metadata.annotations,
  revision: /^[1-9]\d*$/.test(object.metadata.resourceVersion),
  fields: Object.keys(object).sort(),
})

conformance('watch', {
  'a bookmark never sends back who starts in the future': async (t) => {
    const { all } = await scene(t)
    const query = { allowWatchBookmarks: true, timeoutSeconds: 4, resourceVersion: '99999999999' }
    const watch = await t.watch(all, query)
    t.see('events', await watch.rest())
  },
  'a watch from a revision sees what comes after, in order': async (t) => {
    const { all, revision } = await scene(t)
    const watch = await t.watch(all, { resourceVersion: revision, ...MINE })
    await t.must('POST', all, { body: mine('a', { n: '1' }) })
    await t.must('PUT', `${all}/a`, { body: mine('a', { n: '2' }) })
    await t.must('DELETE', `${all}/a`)
    t.see('events', await watch.take(3))
  },
  'a watch from an old revision replays what happened': async (t) => {
    const { all, revision } = await scene(t)
    for (const name of ['a', 'b']) await t.must('POST', all, { body: mine(name) })
    await t.must('DELETE', `${all}/a`)
    const watch = await t.watch(all, { resourceVersion: revision, ...MINE })
    t.see('events', await watch.take(3))
  },
  'a watch without a revision begins with what is there': async (t) => {
    const { all } = await scene(t)
    for (const name of ['b', 'a']) await t.must('POST', all, { body: mine(name) })
    const watch = await t.watch(all, MINE)
    t.see('events', brief(await watch.take(2)).sort())
    await t.must('POST', all, { body: mine('c') })
    t.see('then', await watch.take(1))
  },
  'a watch from revision 0 begins with what is there': async (t) => {
    const { all } = await scene(t)
    await t.must('POST', all, { body: mine('a') })
    await t.until(`${all}?resourceVersion=0&labelSelector=mine`, ({ body }) => body.items.length === 1)
    const watch = await t.watch(all, { resourceVersion: '0', ...MINE })
    t.see('events', await watch.take(1))
  },
  'deleted events carry the last state and the revision of the delete': async (t) => {
    const { all, revision } = await scene(t)
    const made = await t.must('POST', all, { body: mine('a', { k: 'v' }) })
    await t.must('DELETE', `${all}/a`)
    const watch = await t.watch(all, { resourceVersion: revision, ...MINE })
    const [added, deleted] = await watch.take(2)
    t.see('deleted', deleted)
    const of = (event: WatchEvent | undefined) => BigInt(event!.object.metadata.resourceVersion)
    t.see('revision moved', {
      added: of(added) === BigInt(made.body.metadata.resourceVersion),
      deleted: of(deleted) > of(added),
    })
  },
  'a selector turns changes into added and deleted': async (t) => {
    const { all, revision } = await scene(t)
    const watch = await t.watch(all, { resourceVersion: revision, labelSelector: 'mine=yes,on=true' })
    await t.must('POST', all, { body: mine('a', { n: '1' }) })
    await t.must('PUT', `${all}/a`, { body: mine('a', { n: '2' }, { labels: { mine: 'yes', on: 'true' } }) })
    await t.must('PUT', `${all}/a`, { body: mine('a', { n: '3' }, { labels: { mine: 'yes', on: 'true' } }) })
    await t.must('PUT', `${all}/a`, { body: mine('a', { n: '4' }) })
    t.see('events', await watch.take(3))
  },
  'a field selector watches one object': async (t) => {
    const { all, revision } = await scene(t)
    const watch = await t.watch(all, { resourceVersion: revision, fieldSelector: 'metadata.name=b' })
    for (const name of ['a', 'b', 'c']) await t.must('POST', all, { body: mine(name) })
    await t.must('DELETE', `${all}/b`)
    t.see('events', brief(await watch.take(2)))
  },
  'a watch of one object by path': async (t) => {
    const { all, revision } = await scene(t)
    await t.must('POST', all, { body: mine('a') })
    const watch = await t.watch(`${all}/a`, { resourceVersion: revision, timeoutSeconds: 1 })
    t.see('status', watch.status)
    const old = await t.watch(`/api/v1/watch${all.slice('/api/v1'.length)}/a`, {
      resourceVersion: revision,
      timeoutSeconds: 5,
    })
    t.see('the deprecated path', { status: old.status, events: brief(await old.take(1)) })
  },
  'a watch over all namespaces': async (t) => {
    const { all, revision } = await scene(t)
    const other = configMapsIn(await t.namespace('-2'))
    const watch = await t.watch('/api/v1/configmaps', { resourceVersion: revision, labelSelector: `case=${t.id}` })
    const labelled = (name: string) => configMap(name, {}, { labels: { case: t.id } })
    await t.must('POST', all, { body: labelled('a') })
    await t.must('POST', other, { body: labelled('b') })
    t.see(
      'events',
      (await watch.take(2)).map(({ type, object }) => `${type} ${object.metadata.namespace}/${object.metadata.name}`),
    )
  },
  'a no-op update is no event': async (t) => {
    const { all, revision } = await scene(t)
    const watch = await t.watch(all, { resourceVersion: revision, ...MINE })
    await t.must('POST', all, { body: mine('a', { k: 'v' }) })
    await t.must('PUT', `${all}/a`, { body: mine('a', { k: 'v' }) })
    await t.must('PATCH', `${all}/a`, { type: 'application/merge-patch+json', body: {} })
    await t.must('POST', all, { body: mine('b') })
    t.see('events', brief(await watch.take(2)))
  },
  'a dry run is no event': async (t) => {
    const { all, revision } = await scene(t)
    const watch = await t.watch(all, { resourceVersion: revision, ...MINE })
    await t.must('POST', `${all}?dryRun=All`, { body: mine('a') })
    await t.must('POST', all, { body: mine('b') })
    t.see('events', brief(await watch.take(1)))
  },
  'finalizers: a delete is a modification until the last one goes': async (t) => {
    const { all, revision } = await scene(t)
    const watch = await t.watch(all, { resourceVersion: revision, ...MINE })
    await t.must('POST', all, { body: mine('a', {}, { finalizers: ['x.io/hold'] }) })
    await t.must('DELETE', `${all}/a`)
    await t.must('PATCH', `${all}/a`, {
      type: 'application/merge-patch+json',
      body: { metadata: { finalizers: null } },
    })
    t.see('events', await watch.take(3))
  },
  'timeoutSeconds ends the watch': async (t) => {
    const { all, revision } = await scene(t)
    // Created first: on a slow machine the watch would end before the creation.
    await t.must('POST', all, { body: mine('a') })
    const watch = await t.watch(all, { resourceVersion: revision, timeoutSeconds: 2, ...MINE })
    t.see('events', brief(await watch.rest()))
  },
  'bookmarks come when asked for, at the latest before the end': async (t) => {
    const { all, revision } = await scene(t)
    await t.must('POST', all, { body: mine('a') })
    const watch = await t.watch(all, {
      resourceVersion: revision,
      timeoutSeconds: 3,
      allowWatchBookmarks: true,
      ...MINE,
    })
    const events = await watch.rest()
    const last = withoutBookmarks(events).at(-1)
    t.see('first and last', [brief(events.slice(0, 1)), last])
  },
  'a revision from the future is waited for': async (t) => {
    const { all } = await scene(t)
    const watch = await t.watch(all, { resourceVersion: '9000000000', timeoutSeconds: 2, ...MINE })
    t.see('status', watch.status)
  },
  'revisions that make no sense': async (t) => {
    const { all } = await scene(t)
    await t.get(all, { query: { watch: true, resourceVersion: 'abc' } })
    await t.get(all, { query: { watch: true, resourceVersion: '-1' } })
    await t.get(all, { query: { watch: true, resourceVersionMatch: 'Exact', resourceVersion: '1' } })
    await t.get(all, { query: { watch: true, labelSelector: '!!' } })
    await t.get(all, { query: { watch: true, fieldSelector: 'data.k=v' } })
    await t.get(all, { query: { watch: true, sendInitialEvents: true } })
    await t.get(all, { query: { watch: true, sendInitialEvents: true, resourceVersionMatch: 'Exact' } })
    await t.get(all, { query: { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' } })
    await t.get(all, { query: { watch: true, limit: 1, timeoutSeconds: 1, ...MINE } })
  },
  'sendInitialEvents gives what is there, then a bookmark that says so': async (t) => {
    const { all } = await scene(t)
    for (const name of ['b', 'a']) await t.must('POST', all, { body: mine(name) })
    const watch = await t.watch(all, {
      sendInitialEvents: true,
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: true,
      ...MINE,
    })
    const events = await watch.until(({ type }) => type === 'BOOKMARK')
    t.see('initial', brief(events.slice(0, -1)).sort())
    t.see('bookmark', withoutBookmarks(events.slice(-1)))
    await t.must('POST', all, { body: mine('c') })
    // The server may send further bookmarks.
    const then = await watch.until(({ type }) => type !== 'BOOKMARK')
    t.see('then', brief(then.slice(-1)))
  },
  'sendInitialEvents of nothing is the bookmark alone': async (t) => {
    const { all } = await scene(t)
    const watch = await t.watch(all, {
      sendInitialEvents: true,
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: true,
      ...MINE,
    })
    t.see('bookmark', withoutBookmarks(await watch.take(1)))
  },
  'custom objects: a watch sees the life of an object': async (t) => {
    const widgets = await define(t)
    const all = widgets.path(await t.namespace())
    const { resourceVersion } = (await t.must('GET', all)).body.metadata
    const watch = await t.watch(all, { resourceVersion })
    const made = await t.must('POST', all, { body: widgets.object('a', { spec: { n: 1 } }) })
    await t.must('PUT', `${all}/a`, { body: { ...made.body, spec: { n: 2 } } })
    await t.must('DELETE', `${all}/a`)
    t.see('events', await watch.take(3))
  },
  'custom objects: sendInitialEvents': async (t) => {
    const widgets = await define(t)
    const all = widgets.path(await t.namespace())
    await t.must('POST', all, { body: widgets.object('a') })
    const query = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true }
    const watch = await t.watch(all, query)
    t.see('events', withoutBookmarks(await watch.take(2)))
  },
  'a watch as PartialObjectMetadata': async (t) => {
    const { all, revision } = await scene(t)
    const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
    const watch = await t.watch(all, { resourceVersion: revision, ...MINE }, { accept })
    await t.must('POST', all, { body: mine('a', { k: 'v' }) })
    t.see('events', await watch.take(1))
  },
  'a watch as Table': async (t) => {
    const { all, revision } = await scene(t)
    const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1'
    const watch = await t.watch(all, { resourceVersion: revision, ...MINE }, { accept })
    await t.must('POST', all, { body: mine('a', { k: 'v' }) })
    await t.must('DELETE', `${all}/a`)
    t.see('events', await watch.take(2))
  },
  'the head of a watch': async (t) => {
    const { all, revision } = await scene(t)
    const response = await t.admin.open({
      method: 'GET',
      path: `${all}?watch=1&resourceVersion=${revision}&timeoutSeconds=1`,
    })
    response.resume()
    const { 'content-type': type, 'cache-control': cache } = response.headers
    t.see('head', { type, cache })
  },
  'a hundred changes arrive in order, once each': async (t) => {
    const { all, revision } = await scene(t)
    const watches = await Promise.all([1, 2, 3].map(() => t.watch(all, { resourceVersion: revision, ...MINE })))
    await t.must('POST', all, { body: mine('a') })
    for (let n = 1; n < 34; n++) {
      await Promise.all(
        ['x', 'y', 'z'].map((key) =>
          t.must('PATCH', `${all}/a`, { type: 'application/merge-patch+json', body: { data: { [key]: String(n) } } }),
        ),
      )
    }
    const seen = await Promise.all(watches.map((watch) => watch.take(100)))
    const revisions = seen.map((events) => events.map(({ object }) => BigInt(object.metadata.resourceVersion)))
    t.see(
      'all saw the same',
      revisions.every((each) => String(each) === String(revisions[0])),
    )
    t.see(
      'ascending',
      revisions[0]!.every((each, i, all) => i === 0 || each > all[i - 1]!),
    )
    t.see('last', seen[0]!.at(-1)!.object.data)
  },
  'watching CRDs reports their conditions': async (t) => {
    const { resourceVersion } = (await t.must('GET', CRDS)).body.metadata
    const widgets = await define(t)
    const name = widgets.crd.metadata.name
    const watch = await t.watch(CRDS, { resourceVersion, fieldSelector: `metadata.name=${name}` })
    const events = await watch.until(({ object }) => hasCondition(object, 'Established', 'True'))
    t.see('first', events[0]!.type)
    t.see('last', events.at(-1)!.object.status)
    await t.must('DELETE', `${CRDS}/${name}`)
    const gone = await watch.until(({ type }) => type === 'DELETED')
    t.see(
      'terminating',
      gone.some(({ object }) => hasCondition(object, 'Terminating', 'True')),
    )
  },
  'a changed CRD ends the watches of its objects, and nothing is lost': async (t) => {
    const widgets = await define(t)
    const all = widgets.path(await t.namespace())
    await t.must('POST', all, { body: widgets.object('a') })
    const { resourceVersion } = (await t.must('GET', all)).body.metadata
    const watch = await t.watch(all, { resourceVersion })
    const crd = `${CRDS}/${widgets.crd.metadata.name}`
    await t.must('PATCH', crd, {
      type: 'application/json-patch+json',
      body: [
        {
          op: 'add',
          path: '/spec/versions/0/additionalPrinterColumns',
          value: [{ name: 'N', type: 'integer', jsonPath: '.spec.n' }],
        },
      ],
    })
    await t.must('POST', all, { body: widgets.object('b') })
    let event = await watch.next()
    while (!event) event = await (await t.watch(all, { resourceVersion })).next()
    t.see('the event after the change', brief([event]))
  },
  'a watch ends by itself when the CRD of its kind changes': async (t) => {
    const widgets = await define(t, { scope: 'Cluster' })
    await t.must('POST', widgets.path(), { body: widgets.object('a') })
    const watch = await t.watch(widgets.path())
    t.see('before', brief(await watch.take(1)))
    const crd = `${CRDS}/${widgets.crd.metadata.name}`
    const { body } = await t.must('GET', crd)
    const next = { ...body.spec.versions[0], name: 'v7', storage: false }
    const value = [...body.spec.versions, next]
    await t.must('PATCH', crd, {
      type: 'application/json-patch+json',
      body: [{ op: 'replace', path: '/spec/versions', value }],
    })
    t.see('until it ends', brief(await watch.rest()))
  },
  'a watch goes on when only the labels of its CRD change': async (t) => {
    const widgets = await define(t, { scope: 'Cluster' })
    const watch = await t.watch(widgets.path())
    await t.must('PATCH', `${CRDS}/${widgets.crd.metadata.name}`, {
      type: 'application/merge-patch+json',
      body: { metadata: { labels: { new: 'yes' } } },
    })
    // An unwanted end would occur within this time.
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    await t.must('POST', widgets.path(), { body: widgets.object('a') })
    t.see('afterwards', brief(await watch.take(1)))
  },
  'a watch ends by itself when its CRD is deleted': async (t) => {
    const widgets = await define(t, { scope: 'Cluster' })
    await t.must('POST', widgets.path(), { body: widgets.object('a') })
    const watch = await t.watch(widgets.path())
    t.see('before', brief(await watch.take(1)))
    await t.must('DELETE', `${CRDS}/${widgets.crd.metadata.name}`)
    t.see('until it ends', brief(await watch.rest()))
  },
})
