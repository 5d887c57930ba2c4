// Counts non-null assertions, casts and functions that are too complex in TypeScript sources. The counts may only go down.
//   node scripts/code-ratchet.mjs                        report counts that went up
//   node scripts/code-ratchet.mjs --write                lower the allowed counts in scripts/code-ratchet.json
//   node scripts/code-ratchet.mjs --list 'non-null assertion'|cast|complexity
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { globSync } from './glob.mjs'
import { count, lowerRatchet, ratchetComplaints } from './ratchet.mjs'

const FILE = 'scripts/code-ratchet.json'
const RULES = {
  'lint/complexity/noExcessiveCognitiveComplexity': 'complexity',
  'lint/style/noNonNullAssertion': 'non-null assertion',
}
const ADVICE = {
  complexity: 'Split the function: its cognitive complexity is above 15',
  'non-null assertion': 'Use an accessor or an assertion helper instead of `!`',
  cast: 'Use a typed accessor or a type guard instead of `as`',
}
const FOLDERS = ['apps', 'packages', 'providers', 'test']
const SOURCE = /\/src\/.*\.ts$/
/** The build copies the examples into the program. */
const COPIES = /^apps\/crosstie\/examples\//
/** Tests and test kits may assert and cast. Complexity counts everywhere. */
const TEST = /^test\/|\.test\.ts$|\/testing[./]/
/** Comments, strings and import lines contain `as` too. */
const NOT_CODE =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|`(?:[^`\\]|\\.)*`|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|^(?:import|export) [^;=]*? from\b/gm
const blank = (text) => text.replace(/[^\n]/g, '_')
/** The expressions of a template literal are code; its text is not. */
const withoutText = (match) =>
  match.startsWith('`') ? match.replace(/(\$\{[^}]*\})|[^$]+|\$/g, (part, code) => code ?? blank(part)) : blank(match)
const CAST = /(?<=[\w)\]}'"`!>] )as (?!const\b)(?=[A-Za-z{[(])/g

const [option, wanted] = process.argv.slice(2)
const counts = {}
countFindings()
countCasts()
if (option === '--write') lowerRatchet(FILE, counts)
if (option !== '--list') {
  const complaints = ratchetComplaints(FILE, counts, (rule) => ADVICE[rule], 'node scripts/code-ratchet.mjs --write')
  for (const complaint of complaints) console.error(complaint)
  process.exitCode = complaints.length > 0 ? 1 : 0
}

/**
 * Counts the assertions and complex functions that the linter finds. The latter are listed by file name without its
 * folder, so that a file can move.
 */
function countFindings() {
  const only = Object.keys(RULES).map((rule) => `--only=${rule.replace('lint/', '')}`)
  const args = ['biome', 'lint', ...only, '--max-diagnostics=none', '--reporter=json', ...FOLDERS]
  const output = execFileSync('npx', args, { encoding: 'utf8', maxBuffer: 1e9, stdio: ['ignore', 'pipe', 'ignore'] })
  const { diagnostics } = JSON.parse(output.slice(output.indexOf('{')))
  for (const { category, location } of diagnostics) {
    const rule = RULES[category]
    if (!rule || !SOURCE.test(location.path)) continue
    const name = rule === 'complexity' ? `: ${basename(location.path)}` : ''
    add(rule, location.path, location.start.line, name)
  }
}

function countCasts() {
  for (const file of globSync(FOLDERS, SOURCE).filter((path) => !COPIES.test(path))) {
    const text = readFileSync(file, 'utf8').replace(NOT_CODE, withoutText)
    for (const { index } of text.matchAll(CAST)) add('cast', file, text.slice(0, index).split('\n').length)
  }
}

function add(rule, file, line, name = '') {
  if (rule !== 'complexity' && TEST.test(file)) return
  count(counts, rule, file.split('/').slice(0, 2).join('/') + name)
  if (option === '--list' && rule === wanted) console.log(`${file}:${line}`)
}
