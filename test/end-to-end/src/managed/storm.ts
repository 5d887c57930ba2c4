import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HttpClient, kubeconfigAccess } from '@crosstie/controller'
import { apiVersionOf, type Client, isAlreadyExists, type KubeObject, type ResourceType } from '@crosstie/kube'
import { thingOf } from '@crosstie/resources/testing'
import { Child } from '../support/children.js'
import { eventually } from '../support/claims-world.js'
import { condition } from '../support/plane.js'
import { crosstie } from '../support/program.js'
import { CloudService } from './cloud-service.js'

const LONG = 400_000

/** A Kubernetes API whose server can be killed and restarted. */
export interface Engine extends AsyncDisposable {
  readonly kubeconfig: string
  /** Kills the server without a shutdown, and restarts it at the same address. */
  restart(): Promise<void>
}

/** Starts `crosstie up` without the kind of the storm, whose controllers run in other processes. */
export async function embeddedEngine(): Promise<Engine> {
  const folder = await mkdtemp(join(tmpdir(), 'crosstie-storm-'))
  const kubeconfig = join(folder, 'kubeconfig')
  const where = ['--listen', `127.0.0.1:${await quietPort()}`, '--data-dir', join(folder, 'data')]
  const start = async () => {
    const child = new Child(process.execPath, [
      crosstie,
      'up',
      '--providers',
      'nop',
      ...where,
      '--kubeconfig',
      kubeconfig,
    ])
    if (!(await child.says(/^ready: /m))) throw new Error(`crosstie up ended: ${child.output}${child.errors}`)
    return child
  }
  let server = await start()
  return {
    kubeconfig,
    async restart() {
      await server.stop('SIGKILL')
      server = await start()
    },
    async [Symbol.asyncDispose]() {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Returns a free port below the ephemeral range, so that no client gets the port while the server is down. */
async function quietPort(): Promise<number> {
  for (;;) {
    const port = randomInt(12_000, 32_000)
    const server = createServer().listen(port, '127.0.0.1')
    const free = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!free) continue
    server.close()
    await once(server, 'close')
    return port
  }
}

const LEASES: ResourceType = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  resource: 'leases',
  namespaced: true,
}

/**
 * Creates and deletes hundreds of objects while the API server and the controllers are killed and stopped. In the
 * end each object has exactly one external resource, and after the deletion no resource remains.
 */
export class Storm implements AsyncDisposable {
  readonly type: ResourceType
  readonly #crew: Child[] = []
  readonly #dismissed = new Set<Child>()
  readonly #client: Client & Disposable

  private constructor(
    private readonly engine: Engine,
    private readonly service: CloudService,
    private readonly args: readonly string[],
    client: Client & Disposable,
  ) {
    this.type = thingOf(service.cloud).type
    this.#client = client
  }

  /** Starts the storm. `args` defines how the processes share the work. */
  static async begin(engine: Engine, ...args: readonly string[]): Promise<Storm> {
    const client = new HttpClient(await kubeconfigAccess({ file: engine.kubeconfig }))
    return new Storm(engine, await CloudService.start(), args, client)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#crew) await child.stop('SIGKILL')
    this.#client[Symbol.dispose]()
    await this.service[Symbol.asyncDispose]()
  }

  recruit(): void {
    const { kubeconfig } = this.engine
    const args = [crosstie, 'controllers', '--providers', CloudService.provider, '--kubeconfig', kubeconfig]
    this.#crew.push(new Child(process.execPath, [...args, '--poll-seconds', '5', ...this.args], this.service.env))
  }

  /** Creates the objects. The disruptions are spread evenly over the creations of external resources. */
  async make(count: number, blows: readonly (() => Promise<void>)[]): Promise<void> {
    const { cloud } = this.service
    const striking = (async () => {
      for (const [i, blow] of blows.entries()) {
        const part = (count * (i + 1)) / (blows.length + 1)
        await this.#until(`${part} of ${count} are made`, async () => cloud.made >= part)
        await blow()
      }
    })()
    const creating = this.#createAll(count)
    await Promise.all([striking, creating])
    await this.#settled(count)
    assert.equal(cloud.made, count, 'each was made once')
    assert.equal(cloud.resources.length, count)
  }

  async deleteAll(blow: () => Promise<void>): Promise<void> {
    const { cloud } = this.service
    const before = cloud.resources.length
    await this.#insist(() => this.#client.deleteCollection(this.type))
    await this.#until('half is gone', async () => cloud.resources.length <= before / 2)
    await blow()
    await this.#until('the objects are gone', async () => (await this.#list())?.length === 0)
    assert.equal(cloud.resources.length, 0, 'nothing is left behind')
  }

  /** Kills the API server. */
  readonly killServer = (): Promise<void> => this.engine.restart()

  /** Kills an active controller process, and starts another. */
  readonly killWorker = async (): Promise<void> => {
    const worker = await this.#worker()
    this.#dismissed.add(worker)
    await worker.stop('SIGKILL')
    this.recruit()
  }

  /** Stops an active controller process, which finishes its current work. */
  readonly stopWorker = async (): Promise<void> => {
    this.recruit()
    const worker = await this.#worker()
    this.#dismissed.add(worker)
    await worker.stop('SIGTERM')
  }

  /** Returns a process that holds a lease. Identities are HOST_PID_TIME. */
  async #worker(): Promise<Child> {
    const alive = () => this.#crew.filter(({ exited }) => !exited)
    return await this.#until('somebody holds a lease', async () => {
      const leases = await this.#client.list(LEASES, { namespace: 'default' }).catch(() => undefined)
      const ours = leases?.items.filter(({ metadata }) => /^crosstie-controllers(-shard-\d+)?$/.test(metadata.name!))
      const holders = ours?.map((lease) => (lease['spec'] as { holderIdentity?: string }).holderIdentity ?? '')
      return alive().find(({ pid }) => holders?.some((holder) => holder.includes(`_${pid}_`)))
    })
  }

  /** Waits for a result. Fails if a process exits that the test did not end. */
  async #until<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
    const looked = async () => {
      const lost = this.#crew.find((child) => child.exited && !this.#dismissed.has(child))
      if (lost) throw new Error(`somebody ended before ${what}: ${lost.output}${lost.errors.slice(-4_000)}`)
      return await look()
    }
    return await eventually(what, looked, LONG)
  }

  async #createAll(count: number): Promise<void> {
    const { type } = this
    const create = (i: number) => {
      const object = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { name: `thing-${i}` } }
      const spec = { forProvider: { region: 'r', flavor: 'sweet', size: i } }
      return this.#insist(() => this.#client.create(type, { ...object, spec } as KubeObject))
    }
    for (let i = 0; i < count; i += 20) {
      await Promise.all(Array.from({ length: Math.min(20, count - i) }, (_, j) => create(i + j)))
    }
  }

  /** Retries a call while the server restarts. */
  async #insist(call: () => Promise<unknown>): Promise<void> {
    const done = async () => {
      try {
        await call()
        return true
      } catch (error) {
        return isAlreadyExists(error)
      }
    }
    await this.#until('the server takes it', done)
  }

  async #list(): Promise<readonly KubeObject[] | undefined> {
    return (await this.#client.list(this.type).catch(() => undefined))?.items
  }

  async #settled(count: number): Promise<void> {
    let open: readonly KubeObject[] = []
    const ready = async () => {
      const items = await this.#list()
      if (items?.length !== count) return false
      open = items.filter((object) => !(isTrue(object, 'Ready') && isTrue(object, 'Synced')))
      return open.length === 0
    }
    await this.#until('all are ready', ready).catch((error) => {
      const some = open.slice(0, 3).map((object) => JSON.stringify(object['status']))
      throw new Error(`${error}: ${open.length} are not, such as ${some}: ${this.#crew.at(-1)?.errors.slice(-2_000)}`)
    })
  }
}

const isTrue = (object: KubeObject, type: string) => condition(object, type)?.status === 'True'
