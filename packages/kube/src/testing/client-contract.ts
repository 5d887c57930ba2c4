import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client, WatchEvent } from '../client.js'
import { StatusError } from '../errors.js'
import type { ResourceType } from '../kind.js'
import type { KubeObject } from '../object.js'

const CONFIG_MAPS: ResourceType = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  resource: 'configmaps',
  namespaced: true,
}
const NAMESPACES: ResourceType = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  resource: 'namespaces',
  namespaced: false,
}

const SERVICE_ACCOUNTS: ResourceType = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  resource: 'serviceaccounts',
  namespaced: true,
}

/** The clients that the contract tests. */
export interface ClientUnderTest {
  /** A client with all permissions. */
  readonly admin: Client
  /** A client without permissions. */
  readonly stranger: Client
}

/**
 * The contract of every Client, in one process or over HTTP, with the embedded server or kube-apiserver. A new
 * Client must pass these tests.
 */
export function clientContract(name: string, open: () => Promise<ClientUnderTest>): void {
  const within = (what: string, run: (space: Space) => Promise<void>) =>
    test(`${name}: ${what}`, { timeout: 60_000 }, async () => {
      const { admin, stranger } = await open()
      const namespace = `contract-${Math.random().toString(36).slice(2, 10)}`
      await admin.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
      try {
        await run({ admin, stranger, namespace })
      } finally {
        await admin.delete(NAMESPACES, { name: namespace })
      }
    })
  writing(within)
  reading(within)
  watching(within)
}

interface Space extends ClientUnderTest {
  readonly namespace: string
}
type Within = (what: string, run: (space: Space) => Promise<void>) => void

function writing(within: Within): void {
  within('a service account gets a token', async ({ admin, stranger, namespace }) => {
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', namespace } }
    await admin.create(SERVICE_ACCOUNTS, account)
    const metadata = { name: 'robot', namespace }
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata, spec: {} }
    const answer: KubeObject = await admin.create(SERVICE_ACCOUNTS, request, { subresource: 'token' })
    const { token } = answer['status'] as { token: string }
    assert.equal(answer.kind, 'TokenRequest')
    assert.equal(token.split('.').length, 3)
    const absent = { ...request, metadata: { ...metadata, name: 'missing' } }
    await refused(admin.create(SERVICE_ACCOUNTS, absent, { subresource: 'token' }), 404, 'NotFound')
    await refused(stranger.create(SERVICE_ACCOUNTS, request, { subresource: 'token' }), 403, 'Forbidden')
  })

  within('get returns the created object', async ({ admin, namespace }) => {
    const created = await admin.create(CONFIG_MAPS, configMap(namespace, 'a', { k: 'v' }))
    assert.ok(created.metadata.uid && created.metadata.resourceVersion && created.metadata.creationTimestamp)
    const read = await admin.get(CONFIG_MAPS, { namespace, name: 'a' })
    assert.deepEqual(read, created)
    await refused(admin.create(CONFIG_MAPS, configMap(namespace, 'a', {})), 409, 'AlreadyExists')
  })

  within('the object of the caller is not changed', async ({ admin, namespace }) => {
    const given = configMap(namespace, 'a', { k: 'v' })
    const before = structuredClone(given)
    await admin.create(CONFIG_MAPS, given)
    assert.deepEqual(given, before)
  })

  within('of two writers of the same revision, exactly one succeeds', async ({ admin, namespace }) => {
    const seen = await admin.create(CONFIG_MAPS, configMap(namespace, 'a', { k: '0' }))
    const write = (k: string) => admin.update(CONFIG_MAPS, { ...seen, data: { k } } as KubeObject)
    const outcomes = await Promise.allSettled([write('1'), write('2')])
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    const lost = outcomes.find(({ status }) => status === 'rejected') as PromiseRejectedResult
    assert.equal((lost.reason as StatusError).reason, 'Conflict')
  })

  within('a write without changes keeps the revision', async ({ admin, namespace }) => {
    const seen = await admin.create(CONFIG_MAPS, configMap(namespace, 'a', { k: '0' }))
    const again = await admin.update(CONFIG_MAPS, seen)
    assert.equal(again.metadata.resourceVersion, seen.metadata.resourceVersion)
  })

  within('patches of every type', async ({ admin, namespace }) => {
    await admin.create(CONFIG_MAPS, configMap(namespace, 'a', { k: '0' }))
    const key = { namespace, name: 'a' }
    await admin.patch(CONFIG_MAPS, key, { type: 'merge', patch: { data: { m: '1' } } })
    await admin.patch(CONFIG_MAPS, key, {
      type: 'json',
      operations: [{ op: 'replace', path: '/data/k', value: '2' }],
    })
    const last = await admin.patch(CONFIG_MAPS, key, { type: 'strategic', patch: { data: { s: '3' } } })
    assert.deepEqual(last['data'], { k: '2', m: '1', s: '3' })
  })

  within('apply owns its fields and reports conflicts', async ({ admin, namespace }) => {
    const apply = (data: Record<string, string>, fieldManager: string, force = false) =>
      admin.apply(CONFIG_MAPS, { metadata: { name: 'a', namespace }, data }, { fieldManager, force })
    await apply({ x: '1', y: '1' }, 'one')
    await refused(apply({ x: '2' }, 'two'), 409, 'Conflict')
    assert.deepEqual((await apply({ x: '2' }, 'two', true))['data'], { x: '2', y: '1' })
    assert.deepEqual(
      (await apply({}, 'one'))['data'],
      { x: '2' },
      'a field that is no longer applied and has no other owner is removed',
    )
  })

  within('a dry run stores nothing', async ({ admin, namespace }) => {
    await admin.create(CONFIG_MAPS, configMap(namespace, 'a', {}), { dryRun: true })
    await refused(admin.get(CONFIG_MAPS, { namespace, name: 'a' }), 404, 'NotFound')
  })

  within('invalid objects are rejected with the field', async ({ admin, namespace }) => {
    const error = await refused(admin.create(CONFIG_MAPS, configMap(namespace, 'Not_A_Name', {})), 422, 'Invalid')
    assert.equal(error.details?.causes?.[0]?.field, 'metadata.name')
  })

  within('delete honors preconditions and finalizers', async ({ admin, namespace }) => {
    const held = configMap(namespace, 'a', {})
    const key = { namespace, name: 'a' }
    const created = await admin.create(CONFIG_MAPS, {
      ...held,
      metadata: { ...held.metadata, finalizers: ['example.org/hold'] },
    })
    await refused(admin.delete(CONFIG_MAPS, key, { preconditions: { uid: 'another' } }), 409, 'Conflict')
    await admin.delete(CONFIG_MAPS, key, { preconditions: { uid: created.metadata.uid } })
    const waiting = await admin.get(CONFIG_MAPS, key)
    assert.ok(waiting.metadata.deletionTimestamp)
    await admin.patch(CONFIG_MAPS, key, { type: 'merge', patch: { metadata: { finalizers: null } } })
    await refused(admin.get(CONFIG_MAPS, key), 404, 'NotFound')
  })

  within('requests without permission are rejected', async ({ stranger, namespace }) => {
    await refused(stranger.list(CONFIG_MAPS, { namespace }), 403, 'Forbidden')
    await refused(stranger.create(CONFIG_MAPS, configMap(namespace, 'a', {})), 403, 'Forbidden')
  })
}

function reading(within: Within): void {
  within('pages of a list have one revision and respect selectors', async ({ admin, namespace }) => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await admin.create(CONFIG_MAPS, labeled(namespace, name))
    const odd = await admin.list(CONFIG_MAPS, { namespace, labelSelector: 'odd=true' })
    assert.deepEqual(namesOf(odd.items), ['a', 'c', 'e'])
    const one = await admin.list(CONFIG_MAPS, { namespace, fieldSelector: 'metadata.name=b' })
    assert.deepEqual(namesOf(one.items), ['b'])

    const labelSelector = 'letter'
    const first = await admin.list(CONFIG_MAPS, { namespace, limit: 2, labelSelector })
    await admin.create(CONFIG_MAPS, labeled(namespace, 'bb'))
    const seen = [...first.items]
    for (let token = first.metadata.continue; token; ) {
      const page = await admin.list(CONFIG_MAPS, { namespace, limit: 2, labelSelector, continue: token })
      assert.equal(page.metadata.resourceVersion, first.metadata.resourceVersion)
      seen.push(...page.items)
      token = page.metadata.continue
    }
    assert.deepEqual(namesOf(seen), ['a', 'b', 'c', 'd', 'e'], 'later objects are not in the list')
    await refused(admin.list(CONFIG_MAPS, { namespace, labelSelector: 'a==' + '=b' }), 400, 'BadRequest')
  })
}

function watching(within: Within): void {
  within('a watch continues from the revision of a list without gaps', async ({ admin, namespace }) => {
    const { metadata } = await admin.list(CONFIG_MAPS, { namespace, labelSelector: 'letter' })
    const created = await admin.create(CONFIG_MAPS, labeled(namespace, 'a'))
    await admin.patch(CONFIG_MAPS, { namespace, name: 'a' }, { type: 'merge', patch: { data: { k: '1' } } })
    await admin.delete(CONFIG_MAPS, { namespace, name: 'a' })
    const options = { namespace, labelSelector: 'letter', resourceVersion: metadata.resourceVersion }
    const events = await take(3, (signal) => admin.watch(CONFIG_MAPS, { ...options, signal }))
    assert.deepEqual(
      events.map(({ type }) => type),
      ['ADDED', 'MODIFIED', 'DELETED'],
    )
    assert.equal(events[0]!.object.metadata.uid, created.metadata.uid)
  })

  within('initial events end with a bookmark', async ({ admin, namespace }) => {
    await admin.create(CONFIG_MAPS, labeled(namespace, 'a'))
    const options = { namespace, labelSelector: 'letter', sendInitialEvents: true, allowWatchBookmarks: true }
    const [added, bookmark] = await take(2, (signal) => admin.watch(CONFIG_MAPS, { ...options, signal }))
    assert.equal(added!.type, 'ADDED')
    assert.equal(bookmark!.type, 'BOOKMARK')
    assert.equal(bookmark!.object.metadata.annotations?.['k8s.io/initial-events-end'], 'true')
  })

  within('an object that leaves the selection is reported as deleted', async ({ admin, namespace }) => {
    const { metadata } = await admin.create(CONFIG_MAPS, labeled(namespace, 'a'))
    const key = { namespace, name: 'a' }
    await admin.patch(CONFIG_MAPS, key, { type: 'merge', patch: { metadata: { labels: { letter: null } } } })
    const options = { namespace, labelSelector: 'letter', resourceVersion: metadata.resourceVersion }
    const [gone] = await take(1, (signal) => admin.watch(CONFIG_MAPS, { ...options, signal }))
    assert.equal(gone!.type, 'DELETED')
  })

  within('an aborted watch ends', async ({ admin, namespace }) => {
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 50)
    for await (const event of admin.watch(CONFIG_MAPS, {
      namespace,
      labelSelector: 'none',
      signal: controller.signal,
    })) {
      assert.fail(`expected no event, got ${event.type}`)
    }
  })
}

async function take(count: number, watch: (signal: AbortSignal) => AsyncIterable<WatchEvent>): Promise<WatchEvent[]> {
  const controller = new AbortController()
  const events: WatchEvent[] = []
  try {
    for await (const event of watch(controller.signal)) {
      events.push(event)
      if (events.length === count) break
    }
  } finally {
    controller.abort()
  }
  return events
}

async function refused(attempt: Promise<unknown>, code: number, reason: string): Promise<StatusError> {
  const error: unknown = await attempt.then(
    () => undefined,
    (cause: unknown) => cause,
  )
  assert.ok(error instanceof StatusError, `expected ${reason}, got ${String(error)}`)
  assert.deepEqual([error.code, error.reason], [code, reason], error.message)
  return error
}

function configMap(namespace: string, name: string, data: Record<string, string>): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data }
}

function labeled(namespace: string, name: string): KubeObject {
  const labels = { letter: 'yes', odd: String((name.charCodeAt(0) - 'a'.charCodeAt(0)) % 2 === 0) }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels } }
}

const namesOf = (items: readonly KubeObject[]) => items.map(({ metadata }) => metadata.name)
