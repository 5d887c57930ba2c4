import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiVersionOf } from '@crosstie/kube'
import { defineBinding } from '../definition/claim.js'
import { bucket } from '../definition/claim-kinds.js'
import { absent } from '../definition/external.js'
import { defineManaged, type ManagedKind } from '../definition/managed.js'
import { s } from '../definition/schema.js'
import { type Member, needsOf } from './members.js'

const node: ManagedKind = defineManaged({
  group: 'graph.crosstie.io',
  version: 'v1',
  kind: 'Node',
  parameters: s.object({ next: s.optional(s.reference(s.string(), { to: () => node.type })) }),
  observation: s.object({}),
  naming: 'user-chosen',
  connect: () => undefined,
  observe: async () => absent,
  create: async () => ({}),
  update: async () => {},
  delete: async () => {},
})
const binding = defineBinding({ claim: bucket, managed: node })

const member = (name: string, forProvider: object = {}, aggregate = 'whole'): Member => ({
  binding,
  object: {
    apiVersion: apiVersionOf(node.type),
    kind: 'Node',
    metadata: { name },
    spec: { forProvider, classRef: { name: `class-of-${name}` }, aggregateRef: { name: aggregate, uid: aggregate } },
  },
})

const select = (name: string) => ({ matchAggregate: true, matchClassRef: { name: `class-of-${name}` } })

const cases: Record<string, { because: string; given: object; needs: readonly string[] }> = {
  Nothing: { because: 'it refers to nobody', given: {}, needs: [] },
  Named: { because: 'a reference names what is needed', given: { nextRef: { name: 'b' } }, needs: ['Node/b'] },
  Chosen: {
    because: 'what was chosen counts, not what else could have been',
    given: { nextSelector: { matchAggregate: true }, nextRef: { name: 'c' } },
    needs: ['Node/c'],
  },
  Choosing: {
    because: 'whoever resolves it at this moment will find one of these',
    given: { nextSelector: { matchAggregate: true } },
    needs: ['Node/b', 'Node/c'],
  },
  ChoosingByClass: { because: 'only one has this class', given: { nextSelector: select('c') }, needs: ['Node/c'] },
}

for (const [name, { because, given, needs }] of Object.entries(cases)) {
  test(`needs of a part: ${name}: ${because}`, () => {
    const members = [member('a', given), member('b'), member('c'), member('x', {}, 'another')]
    assert.deepEqual(needsOf(members[0]!, members), needs)
  })
}
