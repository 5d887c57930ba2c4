import assert from 'node:assert/strict'
import { test } from 'node:test'
import { howFar } from './command.js'

test('how far a migration is', () => {
  const type = { group: 'ec2.aws.crossplane.io', version: 'v1beta1', kind: 'VPC', resource: 'vpcs', namespaced: false }
  const at = { type, name: 'a', kind: 2, kinds: 21, objects: 1500 }
  const words = (found: number, dryRun: boolean) => howFar(at, found, dryRun)
  assert.equal(words(3, true), '1500 checked, 3 to migrate; kind 2 of 21: vpc.ec2.aws.crossplane.io/a')
  assert.equal(words(0, false), '1500 checked, 0 migrated; kind 2 of 21: vpc.ec2.aws.crossplane.io/a')
})
