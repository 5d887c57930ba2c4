// Keeps the links in docs/requirements.md up to date and checks the numbers that code and docs name.
//   node scripts/requirements.mjs           report problems
//   node scripts/requirements.mjs --write   rewrite the columns `tests` and `examples`
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { globSync } from './glob.mjs'

/** The page of requirements. */
export const PAGE = 'docs/requirements.md'

const NUMBER = /\b(?:MR|XN|POL|INI|OBS|CLM|AGG)\d+\b/g
const ROW = /^\| ((?:MR|XN|POL|INI|OBS|CLM|AGG)\d+) \| (.*?) \| [^|]* \| [^|]* \|$/gm
const FOLDERS = ['apps', 'docs', 'examples', 'packages', 'providers', 'test']
/** Generated output and recorded data do not name requirements. */
const SKIPPED = /(^|\/)(dist|bundle|testdata)\/|\.tsbuildinfo$|^docs\/requirements\.md$|^apps\/crosstie\/examples\//
const TEXT = /\.(ts|mjs|md|ya?ml)$/

/** Returns one message per problem. The list is empty if the page and all numbers are correct. */
export function requirementComplaints() {
  const page = readFileSync(PAGE, 'utf8')
  const mentions = findMentions()
  const complaints = unknownNumbers(page, mentions)
  for (const [, number] of page.matchAll(ROW)) {
    if (testsOf(mentions, number).length > 0) continue
    complaints.push(`${PAGE}: no test names ${number}. Put the number into the name of the test that covers it`)
  }
  if (withLinks(page, mentions) !== page) {
    complaints.push(`${PAGE}: the links are out of date. Run node scripts/requirements.mjs --write`)
  }
  return complaints
}

function unknownNumbers(page, mentions) {
  const known = new Set([...page.matchAll(ROW)].map(([, number]) => number))
  return [...mentions]
    .filter(([number]) => !known.has(number))
    .map(([number, files]) => `${[...files].join(', ')}: ${number} does not exist in ${PAGE}`)
}

/** Returns the files that name each number. */
function findMentions() {
  const mentions = new Map()
  for (const file of globSync(FOLDERS, TEXT).filter((path) => !SKIPPED.test(path))) {
    for (const [number] of readFileSync(file, 'utf8').matchAll(NUMBER)) {
      if (!mentions.has(number)) mentions.set(number, new Set())
      mentions.get(number).add(file)
    }
  }
  return mentions
}

const testsOf = (mentions, number) => [...(mentions.get(number) ?? [])].filter((file) => file.endsWith('.test.ts'))
const examplesOf = (mentions, number) =>
  [...(mentions.get(number) ?? [])].filter((file) => /(^|\/)examples\//.test(file))

function withLinks(page, mentions) {
  return page.replace(ROW, (_, number, text) => {
    const tests = testsOf(mentions, number).map((file) => link(file, testName(file)))
    const examples = examplesOf(mentions, number).map((file) => link(file, file.split('/').at(-2)))
    return `| ${number} | ${text} | ${tests.join(', ')} | ${examples.join(', ')} |`
  })
}

const link = (file, name) => `[${name}](${relative(dirname(PAGE), file)})`
/** Returns the name of a test: `resources/binding/decide` for `packages/resources/src/binding/decide.test.ts`. */
const testName = (file) =>
  file
    .replace(/^(packages|test)\//, '')
    .replace('/src/', '/')
    .replace(/\.test\.ts$/, '')

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  if (process.argv.includes('--write')) {
    writeFileSync(PAGE, withLinks(readFileSync(PAGE, 'utf8'), findMentions()))
  }
  const complaints = requirementComplaints()
  for (const complaint of complaints) console.error(complaint)
  process.exitCode = complaints.length > 0 ? 1 : 0
}
