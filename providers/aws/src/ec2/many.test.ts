import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { CreateInternetGatewayCommand, CreateTagsCommand, EC2Client } from '@aws-sdk/client-ec2'
import { apiVersionOf, conditionsOf } from '@crosstie/kube'
import { managedController } from '@crosstie/resources'
import { FakeApi } from '@crosstie/resources/testing'
import { type CallCount, countCalls } from '../testing/calls.js'
import { connected } from '../testing/contract.js'
import { Moto, motoMissing } from '../testing/moto.js'
import { internetGateway } from './internetgateway.js'

const missing = await motoMissing()
const MANY = 2_000
const region = 'eu-west-1'

describe('many at once', { skip: missing ?? false, timeout: 900_000 }, () => {
  let moto: Moto
  let calls: CallCount
  let past: EC2Client
  const ids: string[] = []

  before(async () => {
    moto = await Moto.start()
    past = moto.client(EC2Client, region)
    calls = countCalls()
    const make = async () => {
      while (ids.length < MANY) {
        const place = ids.push('') - 1
        const made = await past.send(new CreateInternetGatewayCommand({}))
        ids[place] = made.InternetGateway!.InternetGatewayId!
      }
    }
    await Promise.all([make(), make(), make(), make()])
  })
  after(async () => {
    calls?.[Symbol.dispose]()
    await moto?.[Symbol.asyncDispose]()
  })

  test(`OBS1 ${MANY} internet gateways that are there are observed with a handful of calls`, async (t) => {
    let passed = 0
    const now = () => Date.now() + passed
    const api = new FakeApi({ now })
    const kind = connected(internetGateway, moto.config())
    // The clock of the test is separate from real time: the cached list must not expire while a slow machine runs
    // the test.
    const pollSeconds = 3_600
    const controller = managedController(kind, { client: api, clock: { now }, pollSeconds })
    const names = ids.map((_, i) => `gateway-${i}`)
    for (const [i, name] of names.entries()) {
      await api.create(kind.type, {
        apiVersion: apiVersionOf(kind.type),
        kind: kind.type.kind,
        metadata: { name, annotations: { 'crossplane.io/external-name': ids[i]! } },
        spec: { managementPolicies: ['Observe'], forProvider: { region } },
      })
    }
    const object = (name: string) => api.peek(kind.type, { name })!
    const round = async (): Promise<number> => {
      calls.clear()
      for (const name of names) await controller.reconcile({ name }, AbortSignal.timeout(300_000))
      return calls.total
    }
    const first = await round()
    assert.ok(first < 10, `one list and a few looks, not ${first} calls`)
    for (const name of names) {
      const settled = conditionsOf(object(name)).filter(({ status }) => status === 'True')
      assert.deepEqual(settled.map(({ type }) => type).sort(), ['Ready', 'Synced'], name)
    }
    passed += pollSeconds * 1000
    const second = await round()
    assert.ok(second < 10, `one list, not ${second} calls`)
    t.diagnostic(`${MANY} gateways: ${first} calls in the first round, ${second} in the second`)

    const Tags = [{ Key: 'seen', Value: 'yes' }]
    await past.send(new CreateTagsCommand({ Resources: [ids[1_234]!], Tags }))
    passed += pollSeconds * 1000
    await round()
    const { atProvider } = object('gateway-1234')['status'] as { atProvider: { tags: Record<string, string> } }
    assert.equal(atProvider.tags['seen'], 'yes', 'and what changed is seen on it')
    assert.deepEqual(calls.actions, ['ec2:DescribeInternetGateways'], 'and nothing was changed')
  })
})
