import assert from 'node:assert/strict'
import { apiVersionOf, type Condition, conditionsOf, type KubeObject, type ResourceType } from '@crosstie/kube'
import { type ManagedController, managedController } from '@crosstie/resources'
import type { ManagedKind } from '@crosstie/resources/provider'
import { FakeApi } from '@crosstie/resources/testing'

/** The resource type of Secrets. */
export const secretType: ResourceType = {
  group: '',
  version: 'v1',
  kind: 'Secret',
  resource: 'secrets',
  namespaced: true,
}

const REPEATS = 20

/** Objects of some kinds, which a test reconciles with a real server. */
export class Keeper {
  readonly api: FakeApi
  /** All recorded events. */
  readonly events: string[] = []
  readonly #controllers = new Map<ManagedKind, ManagedController>()
  #now = Date.now()

  constructor() {
    this.api = new FakeApi({ now: () => this.#now })
  }

  pass(seconds: number): void {
    this.#now += seconds * 1000
  }

  async apply(kind: ManagedKind, name: string, forProvider: object, more: object = {}): Promise<void> {
    const { type } = kind
    const spec = { managementPolicies: ['*'], deletionPolicy: 'Delete', ...more, forProvider }
    const held = this.api.peek(type, { name })
    if (held) await this.api.update(type, { ...held, spec })
    else await this.api.create(type, { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { name }, spec })
  }

  async reconcile(kind: ManagedKind, name: string): Promise<string> {
    const events = {
      event: (object: KubeObject, type: string, reason: string, message: string) => {
        this.events.push(`${object.kind}/${object.metadata.name} ${type} ${reason}: ${message}`)
      },
    }
    const clock = { now: () => this.#now }
    const controller = this.#controllers.get(kind) ?? managedController(kind, { client: this.api, clock, events })
    this.#controllers.set(kind, controller)
    return (await controller.reconcile({ name }, AbortSignal.timeout(120_000))).after
  }

  /** Reconciles until the object is ready and in sync. */
  async settle(kind: ManagedKind, name: string): Promise<void> {
    for (let i = 0; i < REPEATS; i++) {
      await this.reconcile(kind, name)
      const is = (type: string) => this.condition(kind, name, type)?.status === 'True'
      if (is('Ready') && is('Synced')) return
    }
    assert.fail(`${name} is not ready: ${JSON.stringify(conditionsOf(this.object(kind, name)))}`)
  }

  /** Deletes the object, and reconciles until it is gone. */
  async remove(kind: ManagedKind, name: string): Promise<void> {
    await this.api.delete(kind.type, { name })
    for (let i = 0; i < REPEATS; i++) {
      await this.reconcile(kind, name)
      if (!this.api.peek(kind.type, { name })) return
    }
    assert.fail(`${name} does not go: ${JSON.stringify(conditionsOf(this.object(kind, name)))}`)
  }

  object(kind: ManagedKind, name: string): KubeObject {
    const found = this.api.peek(kind.type, { name })
    assert.ok(found, `${name} is there`)
    return found
  }

  condition(kind: ManagedKind, name: string, type: string): Condition | undefined {
    return conditionsOf(this.object(kind, name)).find((condition) => condition.type === type)
  }

  /** Returns the decoded keys of a Secret. */
  secret(name: string): Readonly<Record<string, string>> {
    const { data = {} } = (this.api.peek(secretType, { namespace: 'test', name }) ?? {}) as {
      data?: Record<string, string>
    }
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
    )
  }

  async writeSecret(name: string, values: Readonly<Record<string, string>>): Promise<void> {
    const data = Object.fromEntries(
      Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
    )
    const key = { namespace: 'test', name }
    const held = this.api.peek(secretType, key)
    if (held) await this.api.update(secretType, { ...held, data })
    else await this.api.create(secretType, { apiVersion: 'v1', kind: 'Secret', metadata: key, data })
  }

  /** Returns everything that users could read: objects and events. */
  told(...objects: readonly KubeObject[]): string {
    return JSON.stringify([...objects, ...this.events])
  }
}
