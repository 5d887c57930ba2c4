// Compiles on every change and runs the unit tests that import a changed module, directly or not.
//   npm run test:watch             all unit tests
//   npm run test:watch -- cel      only test files whose path contains one of the words
import { spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import { globSync } from './glob.mjs'
import { forget, modulesImportedBy } from './imports.mjs'
import { runFiles, stopOnSignals } from './run-tests.mjs'
import { suiteOf, testFiles } from './suites.mjs'

const words = process.argv.slice(2)
stopOnSignals()

const compiler = spawn('npx', ['tsc', '-b', '--watch', '--preserveWatchOutput'], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
process.on('exit', () => compiler.kill())

let before
let queue = Promise.resolve()
compiler.stdout.setEncoding('utf8').on('data', (text) => {
  process.stdout.write(text)
  // The compiler's line at the end of each build: "Found 0 errors. Watching for file changes."
  if (/Found 0 errors/.test(text)) queue = queue.then(testChanges)
})

async function testChanges() {
  const now = compiledAt()
  const changed = before ? [...now].filter(([file, time]) => before.get(file) !== time).map(([file]) => file) : []
  if (!before) console.log('Change a source file to run the unit tests that depend on it.')
  before = now
  if (changed.length === 0) return
  forget(changed)
  const files = testFiles().filter((file) => suiteOf(file) === 'unit' && isWanted(file) && dependsOn(file, changed))
  const outcomes = await runFiles(files, 2)
  const failed = [...outcomes].filter(([, { fail }]) => fail > 0).map(([file]) => file)
  for (const file of failed) console.log(`failed: ${file}`)
  console.log(`${changed.length} changed modules: ${files.length} test files run, ${failed.length} failed`)
}

const isWanted = (file) => words.length === 0 || words.some((word) => file.includes(word))

function dependsOn(file, changed) {
  const modules = modulesImportedBy(file)
  return changed.some((each) => modules.has(each))
}

function compiledAt() {
  const files = globSync(['packages', 'providers', 'apps'], /\/dist\/.*\.js$/)
  return new Map(files.map((file) => [file, statSync(file).mtimeMs]))
}
