import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { BACKUP_PATH, type Server, startServer } from '@crosstie/apiserver'
import { Controllers, createLog, EventRecorder, HttpClient, Informers, staticAccess } from '@crosstie/controller'
import { apiVersionOf, type Client, type KubeObject, systemClock } from '@crosstie/kube'
import { type ManagedKind, managedController, managedMetrics, reconcileProviderConfig } from '@crosstie/resources'
import { absent, defineManaged, defineProviderConfig, present, s } from '@crosstie/resources/provider'
import { condition, crdType } from '../support/plane.js'

const secretType = { group: '', version: 'v1', kind: 'Secret', resource: 'secrets', namespaced: true }
const base64 = (text: string) => Buffer.from(text).toString('base64')

/** Every value that must not appear outside of a Secret. Generated values are added when they are created. */
const canaries: Record<string, string> = {
  credentials: 'c4n4ry-of-credentials',
  password: 'c4n4ry/of the "password"',
  nested: 'c4n4ry-of-nested',
  onlyAtCreation: 'c4n4ry-of-init',
  issued: 'c4n4ry-issued-by-the-cloud',
  seen: 'c4n4ry-seen-when-observed',
  multiline: '-----BEGIN THING-----\nc4n4ryMIIBVwIBADANBgkqhkiG9w0BAQEFAASCAT8\n-----END THING-----\n',
}

type Calls = 'connect' | 'observe' | 'create' | 'update' | 'delete'

/** A cloud that repeats all its data in every error. */
class Chatterbox {
  readonly failing = new Set<Calls>()
  readonly vaults = new Map<string, { size: number; note: string }>()
  readonly told = new Set<string>()

  tell(call: Calls, given: object): void {
    for (const value of textsIn(given)) this.told.add(value)
    if (!this.failing.has(call)) return
    // Errors even repeat values of other calls, from before this process knew them.
    const { issued, seen, ...ours } = canaries
    const secrets = [...this.told, ...Object.values(ours), ...(this.vaults.size > 0 ? [issued!, seen!] : [])]
    const forms = secrets.flatMap((secret) => [secret, base64(secret), base64(`admin:${secret}`), encodeURI(secret)])
    throw new Error(`${call} refused: ${JSON.stringify(given)} ${forms.join(' ')} ${secrets.map(encodeURIComponent)}`)
  }
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return value.includes('c4n4ry') || value.length === 27 ? [value] : []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

const config = defineProviderConfig({ group: 'leak.crosstie.io' })

function vaultOf(cloud: Chatterbox): ManagedKind {
  return defineManaged({
    group: 'leak.crosstie.io',
    version: 'v1alpha1',
    kind: 'Vault',
    parameters: s.object({
      region: s.identifier(s.string()),
      size: s.optional(s.integer()),
      note: s.optional(s.string()),
      password: s.sensitive(),
      made: s.sensitive(),
      access: s.optional(s.object({ key: s.optional(s.sensitive()), user: s.optional(s.string()) })),
      seed: s.optional(s.sensitive()),
      certificate: s.optional(s.sensitive()),
    }),
    observation: s.object({ url: s.string(), log: s.list(s.string()) }),
    naming: 'user-chosen',
    idempotentCreate: true,
    providerConfig: config,
    consistencySeconds: 0,
    connect: ({ config: read }) => {
      cloud.tell('connect', { credentials: read?.credentials })
      return cloud
    },
    async observe({ client, externalName, forProvider }) {
      client.tell('observe', forProvider)
      const found = client.vaults.get(externalName)
      if (!found) return absent
      return present({
        ready: true,
        connection: { password: canaries['seen']!, port: '5432' },
        // A provider that exposes passwords in the status by mistake.
        atProvider: {
          region: 'r',
          size: found.size,
          note: `${forProvider.password} ${found.note}`,
          url: `https://admin:${forProvider.password}@example.org`,
          log: [`set ${forProvider.password}`],
        },
      })
    },
    async create({ client, externalName, forProvider }) {
      client.tell('create', forProvider)
      client.vaults.set(externalName, { size: forProvider.size ?? 1, note: '' })
      return { connection: { issued: canaries['issued'], password: forProvider.password } }
    },
    async update({ client, externalName, forProvider }) {
      client.tell('update', forProvider)
      client.vaults.set(externalName, { size: forProvider.size ?? 1, note: '' })
    },
    async delete({ client, externalName, forProvider }) {
      client.tell('delete', forProvider)
      client.vaults.delete(externalName)
    },
  })
}

test('MR9 the values of sensitive fields are nowhere but in Secrets, and those are encrypted', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'crosstie-canaries-'))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  const auditLog = join(dataDir, 'audit.log')
  const lines: string[] = []
  const heard = (line: string) => void lines.push(line)
  const server = await startServer({ dataDir, host: '127.0.0.1', port: 0, auditLog, log: heard })
  const { server: address, ca, client: pair } = server.adminAccess()
  // Over HTTP, so that the audit log records every request.
  const client = new HttpClient(staticAccess({ server: address, ca, ...pair }))
  const cloud = new Chatterbox()
  const vault = vaultOf(cloud)
  const log = createLog({ format: 'json', level: 'debug', clock: systemClock, write: (line) => void lines.push(line) })
  const stop = await run(server, client, vault, log)
  try {
    await live(client, vault, cloud)
    // Generated values are canaries too.
    const made = await client.get<KubeObject & { data: Record<string, string> }>(secretType, connectionSecret)
    canaries['made'] = Buffer.from(made.data['made'] ?? '', 'base64').toString()
    assert.equal(canaries['made'].length, 27)
    assert.ok(cloud.told.has(canaries['made']), 'the provider got it')
    for (const name of ['credentials', 'password', 'nested', 'onlyAtCreation', 'multiline']) {
      assert.ok(cloud.told.has(canaries[name]!), `the provider got ${name}`)
    }
    const { shown, secrets } = await everything(server)
    for (const name of ['password', 'issued', 'seen']) assert.ok(secrets.includes(base64(canaries[name]!)), name)
    assert.match(shown, /create refused: .*<redacted>/, 'failures are told of')
    assert.match(shown, /"url":"https:\/\/admin:<redacted>@example.org"/)
    assertNone('objects and metrics', shown)
    // A backup is a snapshot like those in the data directory.
    assertNone('backup', await get(server, BACKUP_PATH))
    await remove(client, vault, cloud)
    assertNone('objects and metrics afterwards', (await everything(server)).shown)
  } finally {
    await stop()
    client.close()
    await server.close()
  }
  assert.match(lines.join('\n'), /cannot reconcile.*cannot update managed resource status: .*<redacted>/)
  assertNone('logs', lines.join('\n'))
  assert.match(await readFile(auditLog, 'utf8'), /"resource":"secrets"/)
  for (const file of await readdir(dataDir, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue
    assertNone(basename(file.name), await readFile(join(file.parentPath, file.name), 'latin1'))
  }
})

async function run(server: Server, client: HttpClient, kind: ManagedKind, log: ReturnType<typeof createLog>) {
  const { metrics } = server
  for (const crd of [config.crd(), config.usageCrd(), kind.crd(), kind.classCrd()]) await client.create(crdType, crd)
  const informers = new Informers(client, { clock: systemClock, log })
  const events = new EventRecorder({ client, component: 'crosstie', clock: systemClock, metrics, log })
  const controllers = new Controllers({ informers, metrics, log, backoff: { baseMs: 20, maxMs: 50 } })
  const options = {
    client: quoting(client),
    events,
    clock: systemClock,
    metrics: managedMetrics(metrics),
    pollSeconds: 0.05,
  }
  controllers.start(managedController(kind, options))
  controllers.start({
    name: 'configs',
    type: config.type,
    reconcile: (key) => reconcileProviderConfig({ client, events }, config, key),
  })
  return async () => {
    await Promise.all([controllers.stop(), informers.stop()])
    await events.stop()
  }
}

/**
 * Returns a client that rejects the second status write with an error that contains secrets. Unexpected errors are
 * logged.
 */
function quoting(client: HttpClient): Client {
  let reports = 0
  const { issued: _, seen: __, ...ours } = canaries
  return new Proxy<Client>(client, {
    get(target, name) {
      if (name === 'update' && ++reports === 2) {
        return async () => {
          throw new Error(`not like this: ${JSON.stringify(ours)}`)
        }
      }
      const member = target[name as keyof Client]
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

const connectionSecret = { name: 'connection', namespace: 'default' }

/** Runs the lifecycle of an object in which every operation fails once. */
async function live(client: Client, kind: ManagedKind, cloud: Chatterbox): Promise<void> {
  const ref = (key: string) => ({ name: 'canaries', namespace: 'default', key })
  await client.create(secretType, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'canaries', namespace: 'default' },
    data: Object.fromEntries(Object.entries(canaries).map(([key, value]) => [key, base64(value)])),
  } as KubeObject)
  const configSpec = { credentials: { source: 'Secret', secretRef: ref('credentials') } }
  await client.create(config.type, {
    apiVersion: apiVersionOf(config.type),
    kind: config.type.kind,
    metadata: { name: 'default' },
    spec: configSpec,
  })
  cloud.failing.add('connect')
  await client.create(kind.type, {
    apiVersion: apiVersionOf(kind.type),
    kind: 'Vault',
    metadata: { name: 'v' },
    spec: {
      forProvider: {
        region: 'r',
        size: 1,
        passwordSecretRef: ref('password'),
        certificateSecretRef: ref('multiline'),
        access: { keySecretRef: ref('nested') },
      },
      initProvider: { seedSecretRef: ref('onlyAtCreation') },
      writeConnectionSecretToRef: connectionSecret,
    },
  })
  const said = (words: RegExp) => eventually(client, kind, (text) => words.test(text))
  await said(/connect failed/)
  for (const [call, next] of [
    ['connect', 'observe'],
    ['observe', 'create'],
  ] as const) {
    cloud.failing.add(next)
    cloud.failing.delete(call)
    await said(new RegExp(`${next} failed: `))
  }
  cloud.failing.delete('create')
  await eventually(client, kind, (_, object) => condition(object, 'Ready')?.status === 'True')
  cloud.failing.add('update')
  cloud.vaults.set('v', { size: 9, note: 'meddled' })
  await said(/update failed/)
  cloud.failing.delete('update')
  await eventually(client, kind, (_, object) => condition(object, 'Synced')?.status === 'True')
}

async function remove(client: Client, kind: ManagedKind, cloud: Chatterbox): Promise<void> {
  cloud.failing.add('delete')
  await client.delete(kind.type, { name: 'v' })
  await eventually(client, kind, (text) => /delete failed/.test(text))
}

async function eventually(client: Client, kind: ManagedKind, holds: (text: string, object: KubeObject) => boolean) {
  let text = ''
  for (const deadline = Date.now() + 120_000; Date.now() < deadline; ) {
    const object = await client.get(kind.type, { name: 'v' })
    text = JSON.stringify(object)
    if (holds(text, object)) return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  assert.fail(`it never came to be: ${text}`)
}

/** Returns all objects of all kinds in all versions and the metrics, with the Secrets separately. */
async function everything(server: Server): Promise<{ shown: string; secrets: string }> {
  // Events are written asynchronously.
  await new Promise((resolve) => setTimeout(resolve, 500))
  const shown = [await get(server, '/metrics')]
  let secrets = ''
  const groups = JSON.parse(await get(server, '/apis')).groups as { versions: { groupVersion: string }[] }[]
  const paths = groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => `/apis/${groupVersion}`))
  for (const path of ['/api/v1', ...paths]) {
    const { resources } = JSON.parse(await get(server, path)) as { resources: { name: string; verbs: string[] }[] }
    for (const { name } of resources.filter(({ verbs }) => verbs.includes('list'))) {
      const text = await get(server, `${path}/${name}`)
      if (path === '/api/v1' && name === 'secrets') secrets = text
      else shown.push(text)
    }
  }
  return { shown: shown.join('\n'), secrets }
}

async function get(server: Server, path: string): Promise<string> {
  const { server: address, ca, client } = server.adminAccess()
  const call = request(new URL(path, address), { ca, ...client, agent: false })
  call.end()
  const [answer] = await once(call, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk)
  assert.equal(answer.statusCode, 200, path)
  return Buffer.concat(chunks).toString('latin1')
}

function assertNone(where: string, text: string): void {
  assert.ok(!/c4n4ry/.test(text), `${where}: ${/.{200}c4n4ry.{50}/s.exec(text)?.[0]}`)
  for (const [name, canary] of Object.entries(canaries)) {
    const bytes = Buffer.from(canary)
    const forms = [canary, JSON.stringify(canary).slice(1, -1), base64(canary), bytes.toString('hex')]
    for (const form of forms) assert.ok(!text.includes(form), `${where} shows ${name} as ${form}`)
  }
}
