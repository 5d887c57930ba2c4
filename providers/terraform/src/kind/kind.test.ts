import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { apiVersionOf, conditionsOf, type KubeObject, type ResourceType } from '@crosstie/kube'
import { type ManagedController, managedController } from '@crosstie/resources'
import { FakeApi, type FakeApiOptions } from '@crosstie/resources/testing'
import { emptyBlock } from '../plan/proposed.js'
import { ProviderPool, type ProviderSetup } from '../process/pool.js'
import { encodeValue } from '../protocol/encoded.js'
import type { ProviderSchema } from '../protocol/provider-client.js'
import { binaryOf, type ProviderName, skipWithout } from '../testing/binaries.js'
import { deriveKind, STATE_NAMESPACE } from './derive.js'
import { REPLACEMENT_POLICY } from './external.js'

const secrets: ResourceType = { group: '', version: 'v1', kind: 'Secret', resource: 'secrets', namespaced: true }
const signal = new AbortController().signal

/** One kind of a real provider, and a Kubernetes API for its objects. */
class Setting implements AsyncDisposable {
  readonly events: string[] = []
  readonly api: FakeApi

  private constructor(
    readonly pool: ProviderPool,
    readonly schema: ProviderSchema,
    readonly setup: ProviderSetup,
    readonly provider: ProviderName,
    options: FakeApiOptions,
  ) {
    this.api = new FakeApi(options)
  }

  static async of(provider: ProviderName, options: FakeApiOptions = {}): Promise<Setting> {
    const pool = new ProviderPool()
    const setup: ProviderSetup = {
      key: provider,
      launch: { path: binaryOf(provider) },
      configure: ({ provider: own }) => encodeValue(own.type, emptyBlock(own.block)),
    }
    const schema = await pool.use(setup, async (session) => session.schema)
    return new Setting(pool, schema, setup, provider, options)
  }

  /** A controller as after a restart: it remembers nothing. */
  controller(type: string): ManagedController {
    const { provider, pool, setup } = this
    const schema = this.schema.resources.get(type)!
    const kind = deriveKind({ provider, type, schema, pool, setup: () => setup })
    return managedController(kind, {
      client: this.api,
      events: { event: (_, level, reason, message) => this.events.push(`${level} ${reason}: ${message}`) },
    })
  }

  async create({ type }: ManagedController, spec: object, metadata: object = {}): Promise<void> {
    await this.api.create(type, {
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadata: { name: 'a', ...metadata },
      spec: { managementPolicies: ['*'], deletionPolicy: 'Delete', ...spec },
    })
  }

  object({ type }: ManagedController): KubeObject {
    return this.api.peek(type, { name: 'a' })!
  }

  /** Reconciles until nothing is left to do at once. */
  async reconcile(controller: ManagedController): Promise<void> {
    for (let i = 0; i < 10; i++) {
      const next = await controller.reconcile({ name: 'a' }, signal)
      if (next.after !== 'backoff' || !('progress' in next && next.progress)) return
    }
    assert.fail('the object is still not as wanted after ten reconciles')
  }

  async patch({ type }: ManagedController, patch: object): Promise<void> {
    await this.api.patch(type, { name: 'a' }, { type: 'merge', patch: patch as never })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pool.stop()
  }
}

const conditions = (object: KubeObject): Record<string, string> =>
  Object.fromEntries(
    conditionsOf(object).map(({ type, status, message }) => [type, `${status} ${message ?? ''}`.trim()]),
  )

const reported = (object: KubeObject): Record<string, unknown> =>
  ((object['status'] as { atProvider?: object })?.atProvider ?? {}) as Record<string, unknown>

const nameOf = (object: KubeObject): string => object.metadata.annotations?.['crossplane.io/external-name'] ?? ''

test('a resource type becomes a kind with its fields', { skip: skipWithout('random') }, async () => {
  await using setting = await Setting.of('random')
  const { kind } = setting.controller('random_password')
  assert.equal(kind.type.group, 'random.terraform.crosstie.io')
  assert.equal(kind.type.kind, 'Password')
  const text = JSON.stringify(kind.crd())
  assert.match(text, /overrideSpecial/)
  assert.match(text, /Terraform: override_special\./)
  assert.ok(!('result' in (kind.observation.fields ?? {})), 'a sensitive result is not reported')
})

test('MR3, XN2: an object is created, reported, up to date, and deleted', { skip: skipWithout('random') }, async () => {
  await using setting = await Setting.of('random')
  const pets = setting.controller('random_pet')
  await setting.create(pets, { forProvider: { length: 3, prefix: 'my' } })
  await setting.reconcile(pets)
  const object = setting.object(pets)
  assert.deepEqual(conditions(object), { Ready: 'True', Synced: 'True' })
  assert.match(nameOf(object), /^my-\w+-\w+-\w+$/)
  assert.equal(reported(object)['id'], nameOf(object))
  assert.equal(reported(object)['separator'], '-')

  await setting.reconcile(setting.controller('random_pet'))
  assert.equal(nameOf(setting.object(pets)), nameOf(object), 'after a restart it is the same')

  await setting.api.delete(pets.type, { name: 'a' })
  await setting.reconcile(pets)
  assert.equal(setting.object(pets), undefined)
})

test('MR9: sensitive results go to the connection Secret and nowhere else', {
  skip: skipWithout('random'),
}, async () => {
  await using setting = await Setting.of('random')
  const passwords = setting.controller('random_password')
  const writeConnectionSecretToRef = { name: 'conn', namespace: 'default' }
  await setting.create(passwords, { forProvider: { length: 20, special: false }, writeConnectionSecretToRef })
  await setting.reconcile(passwords)
  const secret = setting.api.peek(secrets, { name: 'conn', namespace: 'default' })!
  const result = Buffer.from((secret['data'] as Record<string, string>)['result']!, 'base64').toString()
  assert.match(result, /^\w{20}$/)
  assert.ok(!JSON.stringify(setting.object(passwords)).includes(result))
  assert.ok(!setting.events.join().includes(result))
})

test('MR9: a sensitive argument comes from a Secret and is not readable elsewhere', {
  skip: skipWithout('local'),
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'crosstie-'))
  await using setting = await Setting.of('local')
  try {
    const files = setting.controller('local_sensitive_file')
    const filename = join(folder, 'secret.txt')
    await setting.api.create(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'content', namespace: 'default' },
      data: { text: Buffer.from('hunter2').toString('base64') },
    })
    const contentSecretRef = { name: 'content', namespace: 'default', key: 'text' }
    await setting.create(files, { forProvider: { filename, contentSecretRef } })
    await setting.reconcile(files)
    assert.equal(await readFile(filename, 'utf8'), 'hunter2')
    assert.ok(!JSON.stringify(setting.object(files)).includes('hunter2'))
    assert.ok(!setting.events.join().includes('hunter2'))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('a change that needs a replacement is refused, unless the object permits it', {
  skip: skipWithout('random'),
}, async () => {
  await using setting = await Setting.of('random')
  const pets = setting.controller('random_pet')
  await setting.create(pets, { forProvider: { length: 2 } })
  await setting.reconcile(pets)
  const first = nameOf(setting.object(pets))
  await setting.patch(pets, { spec: { forProvider: { length: 4 } } })
  await setting.reconcile(pets)
  assert.match(
    conditions(setting.object(pets))['Synced']!,
    /^False .*spec\.forProvider\.length cannot be changed in place/,
  )
  assert.equal(nameOf(setting.object(pets)), first)

  await setting.patch(pets, { metadata: { annotations: { [REPLACEMENT_POLICY]: 'Recreate' } } })
  await setting.reconcile(pets)
  await setting.reconcile(pets)
  assert.deepEqual(conditions(setting.object(pets))['Synced'], 'True')
  assert.equal(nameOf(setting.object(pets)).split('-').length, 4)
})

test('INI1, INI5: initProvider and ignoreChanges cause no change later', { skip: skipWithout('random') }, async () => {
  await using setting = await Setting.of('random')
  const pets = setting.controller('random_pet')
  await setting.create(pets, { forProvider: { length: 2 }, initProvider: { prefix: 'first' } })
  await setting.reconcile(pets)
  const name = nameOf(setting.object(pets))
  assert.match(name, /^first-/)
  await setting.patch(pets, { spec: { forProvider: { length: 3 }, ignoreChanges: ['length'] } })
  await setting.reconcile(pets)
  assert.equal(conditions(setting.object(pets))['Synced'], 'True')
  assert.equal(nameOf(setting.object(pets)), name)
})

test('OBS2, OBS3: an existing resource is observed by its external name, and nothing is created', {
  skip: skipWithout('random'),
}, async () => {
  await using setting = await Setting.of('random')
  const uuids = setting.controller('random_uuid')
  const uuid = 'aabbccdd-eeff-0011-2233-445566778899'
  const annotations = { 'crossplane.io/external-name': uuid }
  await setting.create(uuids, { managementPolicies: ['Observe'], forProvider: {} }, { annotations })
  await setting.reconcile(uuids)
  assert.equal(conditions(setting.object(uuids))['Synced'], 'True')
  assert.equal(reported(setting.object(uuids))['result'], uuid)
})

test('an invalid argument is reported by its field', { skip: skipWithout('random') }, async () => {
  await using setting = await Setting.of('random')
  const strings = setting.controller('random_string')
  await setting.create(strings, { forProvider: { length: 0 } })
  await setting.reconcile(strings)
  assert.match(conditions(setting.object(strings))['Synced']!, /False create failed: spec\.forProvider\.length: /)
})

test('drift outside is corrected', { skip: skipWithout('local') }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'crosstie-'))
  await using setting = await Setting.of('local')
  try {
    const files = setting.controller('local_file')
    const filename = join(folder, 'a.txt')
    await setting.create(files, { forProvider: { filename, content: 'hello' } })
    await setting.reconcile(files)
    await writeFile(filename, 'changed')
    await setting.reconcile(files)
    assert.equal(await readFile(filename, 'utf8'), 'hello')
    assert.equal(conditions(setting.object(files))['Synced'], 'True')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('XN2: a crash after the state was stored loses nothing, and creates nothing twice', {
  skip: skipWithout('random'),
}, async () => {
  let dies = false
  await using setting = await Setting.of('random', {
    before: ({ verb, type }) => {
      // The process dies between the write of the state and the write of the external name.
      if (dies && verb === 'patch' && type.kind === 'Pet') throw new Error('the process is gone')
    },
    after: ({ verb, type }) => {
      if (verb === 'create' && type.kind === 'Secret') dies = true
    },
  })
  const pets = setting.controller('random_pet')
  await setting.create(pets, { forProvider: { length: 3 } })
  await pets.reconcile({ name: 'a' }, signal).catch(() => {})
  assert.equal(nameOf(setting.object(pets)), '')
  dies = false
  const stored = setting.api.peek(secrets, {
    name: `terraform-state-${setting.object(pets).metadata.uid}`,
    namespace: STATE_NAMESPACE,
  })!
  const name = Buffer.from((stored['data'] as Record<string, string>)['externalName']!, 'base64').toString()
  await setting.reconcile(setting.controller('random_pet'))
  assert.equal(nameOf(setting.object(pets)), name)
  assert.deepEqual(conditions(setting.object(pets)), { Ready: 'True', Synced: 'True' })
})

test('a provider that is killed during a create leaves an object that recovers', {
  skip: skipWithout('time'),
}, async () => {
  await using setting = await Setting.of('time')
  const sleeps = setting.controller('time_sleep')
  await setting.create(sleeps, { forProvider: { createDuration: '2s' } })
  const creating = sleeps.reconcile({ name: 'a' }, signal)
  await setting.pool.use(setting.setup, async (session) => {
    // The create runs in the same process: wait until its intent is durable.
    while (!setting.object(sleeps).metadata.annotations?.['crossplane.io/external-create-pending']) {
      await session.client.schema()
    }
    const { process: child } = session as unknown as { process: { pid: number } }
    process.kill(child.pid, 'SIGKILL')
  })
  await creating
  assert.match(conditions(setting.object(sleeps))['Synced']!, /False create failed: the provider process ended/)
  for (let i = 0; i < 4; i++) await setting.reconcile(sleeps)
  assert.equal(conditions(setting.object(sleeps))['Ready'], 'True')
})
