import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startServer } from '@crosstie/apiserver'
import { silentLog } from '@crosstie/controller'
import { apiVersionOf, type Client, conditionsOf } from '@crosstie/kube'
import { nopResource } from '@crosstie/provider-nop'
import { claimKinds, type Provider, type RuntimeHost } from '@crosstie/resources'
import { ControlPlane } from './control-plane.js'
import { loadRegistry } from './registry.js'

test('definitions are written a few at a time', { timeout: 180_000 }, async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'crosstie-controllers-'))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  await using server = await startServer({ dataDir, host: '127.0.0.1', port: 0 })
  const client = server.client()
  const apply: Client['apply'] = client.apply.bind(client)
  let writing = 0
  let most = 0
  let written = 0
  Object.assign(client, {
    async apply(...args: Parameters<Client['apply']>) {
      if (args[0].resource !== 'customresourcedefinitions') return await apply(...args)
      written++
      most = Math.max(most, ++writing)
      try {
        return await apply(...args)
      } finally {
        writing--
      }
    },
  })
  const registry = await loadRegistry(['sql'])
  await using plane = new ControlPlane({ registry, client, metrics: server.metrics, log: silentLog })
  await plane.served
  assert.ok(written > 8, `only ${written} definitions say nothing`)
  assert.ok(most <= 8, `${most} were written at once`)
})

test('kinds are added and removed while the control plane runs', { timeout: 180_000 }, async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'crosstie-controllers-'))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  await using server = await startServer({ dataDir, host: '127.0.0.1', port: 0 })
  const client = server.client()
  let host: RuntimeHost | undefined
  let disposed = false
  const provider: Provider = {
    name: 'late',
    summary: 'Adds its kinds later.',
    kinds: [],
    run(given) {
      host = given
      return {
        controllers: [],
        async [Symbol.asyncDispose]() {
          disposed = true
        },
      }
    },
  }
  const registry = { providers: [provider], kinds: [], claims: claimKinds, bindings: [] }
  const plane = new ControlPlane({ registry, client, metrics: server.metrics, log: silentLog, pollSeconds: 1 })
  await plane.served
  const { type, classType } = nopResource
  assert.deepEqual(await host!.setKinds('late', [nopResource]), [])
  const ready = async (name: string): Promise<boolean> =>
    conditionsOf(await client.get(type, { name })).some((each) => each.type === 'Ready' && each.status === 'True')
  const nop = (name: string) => ({ apiVersion: apiVersionOf(type), kind: type.kind, metadata: { name } })
  await client.create(type, { ...nop('a'), spec: { forProvider: {} } })
  await until(() => ready('a'))

  const className = { apiVersion: apiVersionOf(classType), kind: classType.kind, name: 'small' }
  await client.create(classType, { ...className, metadata: { name: 'small' }, specTemplate: { forProvider: {} } })
  const claimType = bucketType()
  const claim = { apiVersion: apiVersionOf(claimType), kind: claimType.kind, metadata: { name: 'b' } }
  await client.create(claimType, {
    ...claim,
    metadata: { name: 'b', namespace: 'default' },
    spec: { classRef: className },
  })
  const phase = async () => {
    const { status } = (await client.get(claimType, { name: 'b', namespace: 'default' })) as {
      status?: { bindingPhase?: string }
    }
    return status?.bindingPhase
  }
  await until(async () => (await phase()) === 'Bound')

  assert.deepEqual(await host!.setKinds('late', []), [])
  await client.create(type, { ...nop('later'), spec: { forProvider: {} } })
  assert.deepEqual(await host!.setKinds('late', [nopResource]), [], 'a kind may come back')
  await until(() => ready('later'))
  await plane.stop()
  assert.ok(disposed)
})

function bucketType() {
  return claimKinds.find(({ type }) => type.kind === 'Bucket')!.type
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20))
}
