import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Condition, type KubeObject, Metrics } from '@crosstie/kube'
import type { ManagedKind } from '../definition/managed.js'
import { countStates, managedMetrics } from './metrics.js'

const kindOf = (group: string) =>
  ({ type: { group, version: 'v1', kind: 'VPC', resource: 'vpcs', namespaced: false } }) as unknown as ManagedKind
const vpc = kindOf('ec2.example.org')

const saying = (...conditions: readonly Condition[]): readonly [ManagedKind, KubeObject] => [
  vpc,
  { apiVersion: 'ec2.example.org/v1', kind: 'VPC', metadata: { name: 'a' }, status: { conditions } },
]
const ready: Condition = { type: 'Ready', status: 'True', reason: 'Available' }
const drifted: Condition = { type: 'Drifted', status: 'True', reason: 'UpdateNotAllowed' }
const corrected: Condition = { type: 'Drifted', status: 'False', reason: 'Corrected' }
const waiting: Condition = { type: 'Approved', status: 'False', reason: 'ApprovalRequired' }

const shown = (metrics: Metrics, name: string) =>
  metrics
    .expose()
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`))

test('MR14 drift and plans that wait are counted as the objects say it now', () => {
  const metrics = new Metrics()
  const objects = new Set([saying(ready, drifted), saying(ready, drifted), saying(ready, corrected), saying(waiting)])
  const stop = countStates(metrics, () => objects)
  const labels = 'group="ec2.example.org",kind="VPC"'
  const drifts = () => shown(metrics, 'crosstie_managed_drifted')
  const approvals = () => shown(metrics, 'crosstie_managed_awaiting_approval')
  assert.deepEqual(drifts(), [`crosstie_managed_drifted{${labels},decision="UpdateNotAllowed"} 2`])
  assert.deepEqual(approvals(), [`crosstie_managed_awaiting_approval{${labels},reason="ApprovalRequired"} 1`])

  const [first, , , approved] = [...objects]
  objects.delete(first!)
  objects.delete(approved!)
  assert.deepEqual(drifts(), [`crosstie_managed_drifted{${labels},decision="UpdateNotAllowed"} 1`], 'one is gone')
  assert.deepEqual(approvals(), [], 'what nobody waits for is not there')

  stop()
  assert.deepEqual([...drifts(), ...approvals()], [], 'whoever lost the lead counts nothing')
  countStates(metrics, () => objects)
  assert.deepEqual(drifts(), [`crosstie_managed_drifted{${labels},decision="UpdateNotAllowed"} 1`], 'and begins anew')
})

test('an object that was observed is counted once, also by a process that leads again', () => {
  const metrics = new Metrics()
  for (let term = 1; term <= 2; term++) {
    const managed = managedMetrics(metrics)
    managed.observed(vpc, 'a')
    managed.observed(vpc, 'b')
    managed.observed(kindOf('network.example.com'), 'a')
  }
  assert.deepEqual(shown(metrics, 'crosstie_managed_observed'), [
    'crosstie_managed_observed{group="ec2.example.org",kind="VPC"} 2',
    'crosstie_managed_observed{group="network.example.com",kind="VPC"} 1',
  ])
})
