import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { KubeObject } from '@crosstie/kube'
import { FakeClient } from '../../access/testing.js'
import { runPolicyStatus } from './status.js'

const type = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingAdmissionPolicy',
  resource: 'validatingadmissionpolicies',
  namespaced: false,
}

test('the status names the checked generation and the type warnings', async () => {
  const client = new FakeClient()
  const stop = new AbortController()
  const warning = { fieldRef: 'spec.validations[0].expression', warning: 'apps/v1, Kind=Deployment: ERROR …' }
  const check = (policy: KubeObject) => (policy['spec'] === 'bad' ? [warning] : [])
  const failed = (what: string, error: unknown) => assert.fail(`${what}: ${error}`)
  const done = runPolicyStatus({ client: client.port, check, failed }, stop.signal)
  const policy = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: type.kind,
    metadata: { name: 'p', generation: 1 },
  }
  await client.create(type, { ...policy, spec: 'good' })
  const status = async (name: string, generation: number) => {
    const deadline = Date.now() + 60_000
    while (Date.now() < deadline) {
      const seen = client.find(type, name)?.['status'] as { observedGeneration: number } | undefined
      if (seen?.observedGeneration === generation) return seen
      await delay(5)
    }
    assert.fail(`policy ${name} has no status of generation ${generation}`)
  }
  assert.deepEqual(await status('p', 1), { observedGeneration: 1, typeChecking: {} })
  const current = client.find(type, 'p')!
  await client.update(type, { ...current, metadata: { ...current.metadata, generation: 2 }, spec: 'bad' })
  assert.deepEqual(await status('p', 2), { observedGeneration: 2, typeChecking: { expressionWarnings: [warning] } })
  // The controller handles events in order: with the status of a later policy it has seen its own writes too.
  await client.create(type, { ...policy, metadata: { name: 'later', generation: 1 }, spec: 'good' })
  await status('later', 1)
  const applied = client.log.filter((line) => line.startsWith('apply'))
  assert.deepEqual(
    applied.map((line) => line.includes('/later')),
    [false, false, true],
    applied.join(', '),
  )
  stop.abort()
  await done
})
