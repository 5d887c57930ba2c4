import { describe, test } from 'node:test'
import { startRealKubernetes } from '../support/oracle.js'
import { type Engine, embeddedEngine, Storm } from './storm.js'

const LONG = { timeout: 1_200_000 }

/** Two processes with leader election: the server is killed, then the leader, and the next leader is stopped. */
async function leaders(engine: Engine, count: number): Promise<void> {
  await using storm = await Storm.begin(engine)
  storm.recruit()
  storm.recruit()
  await storm.make(count, [storm.killServer, storm.killWorker, storm.stopWorker, storm.killServer])
  await storm.deleteAll(storm.killServer)
}

/** Three processes that share the objects. */
async function shares(engine: Engine, count: number): Promise<void> {
  await using storm = await Storm.begin(engine, '--shards', '6')
  for (let i = 0; i < 3; i++) storm.recruit()
  await storm.make(count, [storm.killWorker, storm.killServer, storm.stopWorker])
  await storm.deleteAll(storm.killWorker)
}

describe('a storm on the embedded server', LONG, () => {
  test(
    'XN2 servers and leaders die in the middle: each resource is made once, and none is left behind',
    LONG,
    async () => {
      await using engine = await embeddedEngine()
      await leaders(engine, 300)
    },
  )

  test('XN2 processes that share the objects die in the middle: likewise', LONG, async () => {
    await using engine = await embeddedEngine()
    await shares(engine, 200)
  })
})

const real = await startRealKubernetes()
const skip = typeof real === 'string' ? real : false

describe('a storm on the real kube-apiserver', { ...LONG, skip }, () => {
  test(
    'XN2 servers and leaders die in the middle: each resource is made once, and none is left behind',
    LONG,
    async () => {
      if (typeof real === 'string') return
      await using engine = real
      await leaders(engine, 100)
    },
  )
})
