import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import type { ManagedKind, ProviderConfiguration } from '@crosstie/resources/provider'
import { kindContract, type System } from '@crosstie/resources/testing'
import { calls, type GoogleCall } from '../client/client.js'
import type { GoogleEmulator } from '../emulator/index.js'

export const project = 'example-project'

/** A ProviderConfig that leads to the emulator. */
export function configOf(emulator: GoogleEmulator, spec: object = {}): ProviderConfiguration {
  return {
    name: 'default',
    revision: `${randomUUID()}/1/0`,
    spec: { credentials: { source: 'None' }, projectID: project, endpoint: { url: emulator.url }, ...spec },
    credentials: undefined,
  }
}

/** The kind with the configuration given, so that it needs no ProviderConfig object. */
export function connected(kind: ManagedKind, config: ProviderConfiguration): ManagedKind {
  const connect: typeof kind.external.connect = (context) => kind.external.connect({ ...context, config })
  return { ...kind, providerConfig: undefined, external: Object.assign(Object.create(kind.external), { connect }) }
}

/** A request to the emulator, not sent by a kind. */
export async function ask(emulator: GoogleEmulator, http: string, path: string, body?: object) {
  const response = await fetch(`${emulator.url}/${path}`, {
    method: http,
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) }
}

/** The contract of a kind on the emulator, and that its permissions list all requests that it sends. */
export function googleContract(emulator: GoogleEmulator, kind: ManagedKind, system: Omit<System, 'kind'>): void {
  const name = `${kind.type.kind} on the emulator`
  const used = new Set<string>()
  const note = (message: unknown) => used.add((message as GoogleCall).permission)
  after(() => calls.unsubscribe(note))
  kindContract(name, async () => {
    calls.unsubscribe(note)
    calls.subscribe(note)
    let passed = 0
    const now = () => Date.now() + passed
    const pass = async (milliseconds: number) => {
      passed += milliseconds
    }
    return { kind: connected(kind, configOf(emulator)), now, pass, ...system }
  })
  test(`${name}: its permissions list all requests`, () => {
    calls.unsubscribe(note)
    const listed = new Set(Object.values(kind.permissions ?? {}).flat())
    assert.ok(used.size > 0)
    assert.deepEqual(
      [...used].filter((permission) => !listed.has(permission)),
      [],
      'add them to `permissions` of the kind',
    )
  })
}
