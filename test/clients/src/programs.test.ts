import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { capture, openTarget, type Target } from '@crosstie/test-conformance'
import { obtain, targets } from './session.js'

const programs: Readonly<Record<string, string>> = {
  'client-go': 'protobuf, informers, paging, apply configurations, impersonation, tokens, leader election, events',
  reconciler: 'controller-runtime: two managers, one leader, a finalizer, owned objects, status by patch and apply',
}

const clients = await obtain('programs')
if ('missing' in clients) test('Go programs', { skip: clients.missing })

for (const choice of 'path' in clients ? targets() : []) {
  describe(`Go programs on ${choice}`, () => {
    let target: Target
    before(async () => {
      target = await openTarget(choice)
    })
    after(() => target?.stop())
    for (const [name, because] of Object.entries(programs)) {
      test(`${name}: ${because}`, async () => {
        assert('path' in clients)
        const env = { ...process.env, KUBECONFIG: target.kubeconfig }
        const { code, stdout, stderr } = await capture(clients.path, [name], { env, timeoutMs: 660_000 })
        assert.equal(code, 0, `${stdout}\n${stderr.slice(-2_000)}`)
      })
    }
  })
}
