// Checks that the reasons of conditions and events in the code match the lists in packages/resources/src/*reasons.ts.
//   node scripts/reasons.mjs           report reasons that are missing on either side
//   node scripts/reasons.mjs --write   write docs/reference/conditions-and-events.md
import { readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { globSync } from './glob.mjs'

const LISTS = ['reasons', 'event-reasons', 'terraform-reasons'].map((name) => `packages/resources/src/${name}.ts`)
const LIST = LISTS[0]
/** The generated page of conditions and events. */
export const PAGE = 'docs/reference/conditions-and-events.md'

/** Reports whether reasons in the file must be listed. Tests, generated files and the lists are exempt. */
const isOurs = (file) =>
  !/\.test\.ts$|\/(vectors|testing)\/|\/dist\/|\.d\.ts$/.test(file) &&
  !LISTS.includes(file) &&
  file !== 'packages/resources/src/definition/rules.ts'

const patterns = [
  /\bevent\(\s*(?:[\w.!]+,\s*)?'(?:Normal|Warning)',\s*'(\w+)'/g,
  /\breason(?::|\s=)\s*'([A-Z]\w+)'/g,
  /\bRequestError\(\s*'(\w+)'/g,
]

/** Returns the reasons in the code, with one place each. */
export function usedReasons() {
  const used = new Map()
  for (const file of globSync(['packages/resources/src', 'providers'], /\/src\/.*\.ts$/).filter(isOurs)) {
    // UpToDate is a condition of Crossplane. Crosstie reads it, but never sets it.
    const text = readFileSync(file, 'utf8').replace(/^.*type: 'UpToDate'.*$/gm, '')
    for (const pattern of patterns) for (const [, reason] of text.matchAll(pattern)) used.set(reason, file)
  }
  return used
}

/** Returns the reasons that are used and not listed, or listed and not used. */
export function reasonComplaints() {
  const text = LISTS.map((file) => readFileSync(file, 'utf8')).join('\n')
  const listed = new Set([...text.matchAll(/\breason: '(\w+)'/g)].map(([, reason]) => reason))
  const used = usedReasons()
  return [
    ...[...used]
      .filter(([reason]) => !listed.has(reason))
      .map(([reason, file]) => `${file}: the reason ${reason} is not explained in ${LIST}`),
    ...[...listed]
      .filter((reason) => !used.has(reason))
      .map((reason) => `${LIST}: nothing gives the reason ${reason} any longer`),
  ]
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const complaints = reasonComplaints()
  for (const complaint of complaints) console.error(complaint)
  process.exitCode = complaints.length > 0 ? 1 : 0
  if (process.argv.includes('--write')) {
    const { reasonsPage } = await import('../packages/resources/dist/reasons-page.js')
    writeFileSync(PAGE, reasonsPage())
    console.log(`wrote ${PAGE}`)
  }
}
