import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ManagedKind, ProviderConfiguration } from '@crosstie/resources/provider'
import { kindContract, type System } from '@crosstie/resources/testing'
import { type CallCount, countCalls } from './calls.js'
import { Moto, motoMissing } from './moto.js'

/** Returns the kind with a fixed configuration, so that it needs no ProviderConfig object. */
export function connected(kind: ManagedKind, config: ProviderConfiguration): ManagedKind {
  const connect: typeof kind.external.connect = (context) => kind.external.connect({ ...context, config })
  return { ...kind, providerConfig: undefined, external: Object.assign(Object.create(kind.external), { connect }) }
}

/** Starts moto for the tests of one file, or reports why they are skipped. */
export async function motoForFile(): Promise<Moto | undefined> {
  const missing = await motoMissing()
  if (missing) {
    test('AWS on moto', { skip: missing })
    return undefined
  }
  const moto = await Moto.start()
  after(() => moto[Symbol.asyncDispose]())
  return moto
}

/** Tests the contract of a kind on moto, and that its permissions list all of its calls. */
export function motoContract(
  moto: Moto,
  kind: ManagedKind,
  open: (kind: ManagedKind) => Promise<Omit<System, 'kind'>>,
): void {
  const name = `${kind.type.kind} on moto`
  let counted: CallCount | undefined
  after(() => counted?.[Symbol.dispose]())
  kindContract(name, async () => {
    counted ??= countCalls()
    const system = connected(kind, moto.config())
    // Moto shows created resources immediately, so that the delay for a slower cloud can be skipped.
    let passed = 0
    const now = () => Date.now() + passed
    const pass = async (milliseconds: number) => {
      passed += milliseconds
    }
    return { kind: system, now, pass, ...(await open(system)) }
  })
  test(`${name}: its permissions list all that it calls`, () => {
    const listed = new Set(Object.values(kind.permissions ?? {}).flat())
    const used = counted?.actions ?? []
    counted?.[Symbol.dispose]()
    assert.ok(used.length > 0)
    const missing = used.filter((action) => !listed.has(action))
    assert.deepEqual(missing, [], 'add them to `permissions` of the kind')
  })
}
