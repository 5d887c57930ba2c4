import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { emptyBlock } from '../plan/proposed.js'
import { encodeValue } from '../protocol/encoded.js'
import type { ProviderSchema } from '../protocol/provider-client.js'
import { binaryOf, skipWithout } from '../testing/binaries.js'
import { type PoolOptions, ProviderPool, type ProviderSession, type ProviderSetup } from './pool.js'

const skip = skipWithout('time')

const setup = (key: string): ProviderSetup => ({
  key,
  launch: { path: binaryOf('time') },
  configure: ({ provider }: ProviderSchema) => encodeValue(provider.type, emptyBlock(provider.block)),
})

async function withPool(options: PoolOptions, run: (pool: ProviderPool) => Promise<void>): Promise<void> {
  const pool = new ProviderPool(options)
  try {
    await run(pool)
  } finally {
    await pool.stop()
  }
}

const running = async (pool: ProviderPool): Promise<number> => (await pool.usage()).processes

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 60_000; !(await holds()); await wait(10)) {
    assert.ok(Date.now() < deadline, 'the condition did not hold within a minute')
  }
}

const same = async (session: ProviderSession): Promise<ProviderSession> => session

test('users of one setup share a process, and others have their own', { skip }, () =>
  withPool({}, async (pool) => {
    const [a, b, c] = await Promise.all([
      pool.use(setup('one'), same),
      pool.use(setup('one'), same),
      pool.use(setup('two'), same),
    ])
    assert.equal(a, b)
    assert.notEqual(a, c)
    assert.equal(await running(pool), 2)
    if (process.platform === 'linux') assert.ok((await pool.usage((key) => key === 'one')).memory > 1_000_000)
  }),
)

test('an idle process is stopped, and started again on demand', { skip }, () =>
  withPool({ idleMs: 20 }, async (pool) => {
    const first = await pool.use(setup('one'), same)
    await until(async () => (await running(pool)) === 0)
    assert.notEqual(await pool.use(setup('one'), same), first)
  }),
)

test('a process in use is not stopped, and is replaced after its last use', { skip }, () =>
  withPool({ idleMs: 1, maxUses: 2 }, async (pool) => {
    let end = () => {}
    const held = new Promise<void>((resolve) => {
      end = resolve
    })
    const long = pool.use(setup('one'), async (session) => {
      await held
      await session.client.schema()
      return session
    })
    const second = await pool.use(setup('one'), same)
    const third = await pool.use(setup('one'), same)
    assert.notEqual(second, third, 'the second use was the last one')
    end()
    assert.equal(await long, second)
  }),
)

test('no more processes run than allowed: an idle one gives way, and else a user waits', { skip }, () =>
  withPool({ maxProcesses: 1 }, async (pool) => {
    let end = () => {}
    const held = new Promise<void>((resolve) => {
      end = resolve
    })
    let most = 0
    const count = async () => {
      most = Math.max(most, await running(pool))
    }
    const first = pool.use(setup('one'), () => held.then(count))
    const second = pool.use(setup('two'), count)
    await assert.rejects(pool.use(setup('three'), count, AbortSignal.timeout(50)), { name: 'TimeoutError' })
    end()
    await Promise.all([first, second])
    assert.equal(most, 1)
  }),
)

test('a crash is reported, and the next use has a new process', { skip }, () =>
  withPool({}, async (pool) => {
    const dying = pool.use(setup('one'), async (session) => {
      const { process: child } = session as unknown as { process: { pid: number } }
      process.kill(child.pid, 'SIGKILL')
      await session.client.schema()
      await session.client.schema()
    })
    await assert.rejects(dying, /the provider process ended during the call: killed by SIGKILL/)
    assert.ok((await pool.use(setup('one'), ({ client }) => client.schema())).resources.size > 0)
  }),
)

test('a provider that refuses its configuration is stopped', { skip }, () =>
  withPool({}, async (pool) => {
    const broken: ProviderSetup = {
      ...setup('one'),
      configure: () => {
        throw new Error('spec.region is missing')
      },
    }
    await assert.rejects(pool.use(broken, same), /spec\.region is missing/)
    await until(async () => (await running(pool)) === 0)
    await pool.stop()
    await assert.rejects(pool.use(setup('one'), same), /being stopped/)
  }),
)
