import { SimulatedCloud } from './cloud.js'
import { kindContract } from './contract.js'
import { thingOf } from './thing.js'

for (const naming of ['user-chosen', 'provider-assigned'] as const) {
  for (const [tags, tokens, list] of [
    [true, true, true],
    [false, true, false],
    [false, false, true],
    [true, false, false],
  ] as const) {
    kindContract(
      `a cloud with ${naming} names${tags ? ', tags' : ''}${tokens ? ', tokens' : ''}${list ? ', list' : ''}`,
      async () => {
        let now = Date.UTC(2026, 0, 1)
        const clock = { now: () => now }
        const cloud = new SimulatedCloud({ naming, tags, tokens, list, clock, consistencySeconds: 3, createSeconds: 8 })
        return {
          kind: thingOf(cloud),
          example: { region: 'r1', flavor: 'sweet', size: 2 },
          change: { size: 7 },
          meddle: async (name) => cloud.meddle(name, { size: 9 }),
          count: async () => cloud.resources.length,
          exists: async (name) => cloud.resources.some((resource) => resource.name === name),
          now: clock.now,
          pass: async (milliseconds) => {
            now += milliseconds
          },
        }
      },
    )
  }
}
