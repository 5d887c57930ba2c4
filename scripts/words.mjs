// Counts words and phrases to avoid (docs/STYLE.md) in names, comments, strings and docs. The counts may only go down.
//   node scripts/words.mjs              report counts that went up
//   node scripts/words.mjs --write      lower the allowed counts in scripts/words.json
//   node scripts/words.mjs --list WORD  show where a word is
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { globSync } from './glob.mjs'
import { count, lowerRatchet, ratchetComplaints } from './ratchet.mjs'

/** The file of allowed counts. */
export const FILE = 'scripts/words.json'

const WORDS = {
  told: /\btold\b/gi,
  'tell of': /\b(tells?|telling) of\b/gi,
  mend: /\bmend(s|ed|ing)?\b/gi,
  dear: /\bdear(er)?\b/gi,
  'make (create)': /\b(is|are|was|were|be|been|being|gets|not|to|what|that) made\b/gi,
  'look at (observe, poll)': /\blook(s|ed|ing)? (at|again|after)\b/gi,
  settle: /(?<!all)settl(e|es|ed|ing)/gi,
  'so many': /\bso many\b/gi,
  'at rest (idle)': /\bat rest\b/gi,
  whoever: /\bwhoever\b/gi,
  nobody: /\b(nobody|somebody)\b(?!\.example)/gi,
  'is no, is none': /(?<!there )\b(is|are) no\b(?! longer)|\b(is|are) none\b/gi,
  'the other way round': /\bthe other way round\b/gi,
  'ever (again)': /\bever later\b|\bfor ever\b|\bany more\b/gi,
  'opening with What, Who, That':
    /(?:\/\*\*|^\s*\*|\/\/|^)\s*(?:What|Who|Whoever|That) (?!['"])(?=[a-z])(?![^\n]*\?)/gm,
  'British spelling':
    /\b(licences?|colour\w*|honour\w*|favour\w*|neighbour\w*|behaviour\w*|cancelled(?!_)|labell\w+|modell\w+|travell\w+|misspelt|grey|centre|whilst|artefacts?|analys(e|ed|ing)|(?:recogn|serial|organ|normal|optim|initial|summar|real|emphas|synchron|author|custom|minim|maxim|final|general)is(e|ed|es|ing|ation|ations|er|ers))\b/gi,
}

const FOLDERS = ['apps', 'bench', 'deploy', 'docs', 'examples', 'packages', 'providers', 'scripts', 'test']
const PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md']
/** Recorded data, Google's field descriptions, and messages that Kubernetes or crossplane-runtime define are exempt. */
const EXEMPT =
  /(^|\/)(dist|bundle|testdata|vectors|vendor|node_modules)\/|\.generated\.|^scripts\/words\.mjs$|^docs\/(STYLE|GLOSSARY|requirements)\.md$|^apps\/crosstie\/examples\/|^docs\/reference\/\w+\.gcp\./
const TEXT = /\.(ts|mjs|js|md|ya?ml)$/
/** Node's test summary, cel-go and the API have these spellings. */
const FOREIGN = /cancelled\|skipped|'cancelled'|CANCELLED|operation cancelled/

/** Returns the counts by word and folder. Calls `found` for each occurrence. */
export function wordCounts(found = () => {}) {
  const counts = {}
  for (const file of [...PAGES, ...globSync(FOLDERS, TEXT).filter((path) => !EXEMPT.test(path))]) {
    const text = readFileSync(file, 'utf8')
    for (const [word, pattern] of Object.entries(WORDS)) {
      for (const match of text.matchAll(pattern)) {
        const line = lineAt(text, match.index + match[0].length - match[0].trimStart().length)
        if (FOREIGN.test(line.text)) continue
        count(counts, word, folderOf(file))
        found(word, file, line)
      }
    }
  }
  return counts
}

/** Returns one message for each count that went up. */
export function wordComplaints() {
  const advice = (word) =>
    `Use the standard term (docs/STYLE.md); node scripts/words.mjs --list '${word}' shows the places`
  return ratchetComplaints(FILE, wordCounts(), advice, 'node scripts/words.mjs --write')
}

/** Returns the folder of a count. Counts are kept for each package, so that a file can move inside it. */
function folderOf(file) {
  return file.split('/').slice(0, -1).slice(0, 2).join('/') || '.'
}

function lineAt(text, index) {
  const begin = text.lastIndexOf('\n', index - 1) + 1
  const end = text.indexOf('\n', index)
  const number = text.slice(0, begin).split('\n').length
  return { number, text: text.slice(begin, end < 0 ? undefined : end).trim() }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [option, wanted] = process.argv.slice(2)
  if (option === '--list') {
    wordCounts((word, file, line) => word === wanted && console.log(`${file}:${line.number}: ${line.text}`))
  } else {
    if (option === '--write') lowerRatchet(FILE, wordCounts())
    const complaints = wordComplaints()
    for (const complaint of complaints) console.error(complaint)
    process.exitCode = complaints.length > 0 ? 1 : 0
  }
}
