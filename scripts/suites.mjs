// Defines which suite a test file belongs to.
//
//   unit          files of packages/, providers/ and apps/ that start no external program and are not listed in SLOW.
//                 The suite finishes within 60 s on two idle cores.
//   conformance   test/conformance and test/clients: the embedded server compared with a real kube-apiserver, real clients.
//   e2e           everything else: whole programs, crash simulation, tests that start a program (moto, PostgreSQL), SLOW.
//
// Every test file belongs to exactly one suite. `npm test` runs all of them.
import { existsSync } from 'node:fs'
import { globSync } from './glob.mjs'
import { importsOf, modulesImportedBy } from './imports.mjs'

/** The names of the suites. */
export const SUITES = ['unit', 'conformance', 'e2e']

/** The maximum CPU seconds of one file in the unit suite. Move slower files to SLOW, or speed them up. */
export const UNIT_FILE_CPU_SECONDS = 5

/** Unit tests that are too slow to run after every change. CPU seconds measured on one core. */
const SLOW = {
  'apps/crosstie/src/daemon/load.test.ts': 17,
  'packages/apiserver/src/hostile.test.ts': 10,
  'packages/apiserver/src/store/crash.test.ts': 31,
  'packages/resources/src/managed/create/crash.test.ts': 16,
  'packages/resources/src/managed/ownership/ownership.test.ts': 8,
  'packages/resources/src/plan/worlds.test.ts': 17,
  // Little CPU time, but some 20 s of waiting for operations of the emulators.
  'providers/azure/src/contract.test.ts': 4,
  'providers/gcp/src/contract.test.ts': 4,
}

/** Returns all compiled test files. Stale output of moved or removed sources is left out. */
export function testFiles() {
  const files = globSync(['test', 'providers', 'apps', 'packages'], /\/dist\/.*\.test\.js$/)
  return files.filter((file) => existsSync(sourceOf(file)))
}

/** Returns the suite of a test file. */
export function suiteOf(file) {
  if (/^test\/(conformance|clients)\//.test(file)) return 'conformance'
  if (file.startsWith('test/') || sourceOf(file) in SLOW || startsProgram(file)) return 'e2e'
  return 'unit'
}

/** Returns entries of SLOW without a file. */
export function staleSlowFiles() {
  return Object.keys(SLOW).filter((file) => !existsSync(file))
}

const sourceOf = (file) => file.replace('/dist/', '/src/').replace(/\.js$/, '.ts')

/** Reports whether the test, or a test kit that it uses, imports a module that starts processes. */
function startsProgram(file) {
  const isTestCode = (path) => path === file || /\/testing[./]/.test(path)
  return [...modulesImportedBy(file, isTestCode)].some((path) => importsOf(path).includes('node:child_process'))
}
