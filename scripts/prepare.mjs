// Builds and installs the programs that the tests need besides Node, if they are not in the cache yet (minutes the
// first time): the programs of Kubernetes, Helm, Crossplane, moto, Terraform and its providers. If one is unavailable,
// its tests are skipped.
//   node scripts/prepare.mjs
import { motoMissing } from '../providers/aws/dist/testing/moto.js'
import { providerMissing, providerNames, terraformMissing } from '../providers/terraform/dist/testing/index.js'
import { PROGRAMS, program, Unavailable } from '../test/conformance/dist/index.js'

const begun = Date.now()
const missing = await Promise.all([programsMissing(), motoMissing(), terraformMissing(), providersMissing()])
for (const why of missing.flat().filter(Boolean)) console.log(`some tests will be skipped: ${why}`)
console.log(`what the tests need beyond Node was looked for (${Math.round((Date.now() - begun) / 1000)} s)`)

async function programsMissing() {
  const missing = []
  for (const name of PROGRAMS) {
    try {
      await program(name)
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      missing.push(error.message)
    }
  }
  return missing
}

/** Sequential, because each build uses all cores. */
async function providersMissing() {
  const missing = []
  for (const name of providerNames) missing.push(await providerMissing(name))
  return missing
}
