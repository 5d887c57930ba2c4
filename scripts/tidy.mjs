// Runs checks that the linter does not provide: the direction of imports, the size of files, the targets of links.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, resolve } from 'node:path'
import { cyclesOf } from './cycles.mjs'
import { decisionComplaints } from './decisions.mjs'
import { kindBranchComplaints } from './kind-branches.mjs'
import { layers, mayImport, mayImportRoom, rooms } from './layers.mjs'
import { providerApiComplaints } from './provider-api.mjs'
import { PAGE as REASONS_PAGE, reasonComplaints } from './reasons.mjs'
import { requirementComplaints } from './requirements.mjs'
import { versionComplaints } from './set-version.mjs'
import { staleSlowFiles } from './suites.mjs'
import { wordComplaints } from './words.mjs'

const FILE_LINES_MAX = 500

const folders = layers.flat()
const complaints = []
for (const folder of folders) {
  for (const file of sourceFiles(folder)) checkFile(folder, file)
}
for (const folder of Object.keys(rooms)) checkRooms(folder)
checkStatusWriter()
for (const page of ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', ...pagesBelow('docs')])
  checkLinks(page)
complaints.push(...decisionComplaints())
complaints.push(...requirementComplaints())
complaints.push(...versionComplaints())
complaints.push(...providerApiComplaints())
complaints.push(...wordComplaints())
complaints.push(...kindBranchComplaints())
for (const file of staleSlowFiles()) complaints.push(`scripts/suites.mjs: SLOW names ${file}, which does not exist`)
await checkPages()
await checkCommands()
await checkChart()
await checkReasons()
for (const complaint of complaints) console.error(complaint)
process.exitCode = complaints.length > 0 ? 1 : 0

function checkFile(folder, file) {
  const lines = readFileSync(file, 'utf8').split('\n')
  if (lines.length > FILE_LINES_MAX && !/\.(test|generated)\.ts$/.test(file)) {
    complaints.push(`${file}: ${lines.length} lines, more than ${FILE_LINES_MAX}`)
  }
  lines.forEach((line, index) => {
    const specifier = /(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/.exec(line)?.[1]
    const to = specifier && importedFolder(file, specifier)
    if (to && !mayImport(folder, to)) complaints.push(`${file}:${index + 1}: ${folder} may not import ${to}`)
    if (to !== folder || !specifier.startsWith('.')) return
    if (file.endsWith('.test.ts') && /\/testing[./]/.test(specifier)) return // Tests of any folder use the test kit.
    const [from, into] = [roomOf(folder, file), roomOf(folder, normalize(join(dirname(file), specifier)))]
    if (!mayImportRoom(folder, from, into)) complaints.push(`${file}:${index + 1}: ${from} may not import ${into}`)
  })
}

/** Checks that every folder of a layered package has a layer, and that folders have no import cycles. */
function checkRooms(folder) {
  const files = sourceFiles(folder)
  const listed = rooms[folder].flat()
  const found = new Set(files.map((file) => roomOf(folder, file)).filter((room) => room !== undefined))
  for (const room of found) {
    if (!listed.includes(room)) complaints.push(`${folder}/src/${room} has no place in rooms of scripts/layers.mjs`)
  }
  for (const room of listed) {
    if (!found.has(room)) complaints.push(`scripts/layers.mjs: rooms names ${folder}/src/${room}, which does not exist`)
  }
  const placeOf = (file) => roomOf(folder, file) ?? file.replace(/\.[jt]s$/, '')
  const code = files.filter((file) => !/\.test\.ts$|\/testing[./]/.test(file))
  const edges = code.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+)'/g)].map(([, specifier]) => [
      placeOf(file),
      placeOf(normalize(join(dirname(file), specifier))),
    ]),
  )
  for (const cycle of cyclesOf(edges)) complaints.push(`${folder}: folders import in a circle: ${cycle.join(' → ')}`)
}

/** Only packages/resources/src/status writes the status of objects. */
function checkStatusWriter() {
  const folder = 'packages/resources'
  for (const file of sourceFiles(folder)) {
    if (/\.test\.ts$|\/src\/(status|testing|vectors)\//.test(file)) continue
    if (/subresource: 'status'/.test(readFileSync(file, 'utf8')))
      complaints.push(`${file}: writes a status. Use writeStatus of packages/resources/src/status/write.ts`)
  }
}

/** Checks that the reference page of each kind matches its definition. Requires a build. */
async function checkPages() {
  if (!existsSync('apps/crosstie/dist/reference/kind-pages.js')) return
  const { oldPages, referencePages } = await import('../apps/crosstie/dist/reference/kind-pages.js')
  for (const page of await oldPages('docs/reference', await referencePages())) {
    complaints.push(`docs/reference/${page} is not what its kind says: run node scripts/pages.mjs`)
  }
}

/** Checks that the page of the command line is current. */
async function checkCommands() {
  if (!existsSync('apps/crosstie/dist/reference/cli-page.js')) return
  const { cliReference } = await import('../apps/crosstie/dist/reference/cli-page.js')
  if (readFileSync('docs/reference/cli.md', 'utf8') === (await cliReference())) return
  complaints.push('docs/reference/cli.md is not what the commands say: run node scripts/cli-reference.mjs')
}

/** Checks that the Helm chart is current. */
async function checkChart() {
  if (!existsSync('apps/crosstie/dist/cli/manifests/chart.js')) return
  const { chartFiles, oldFiles } = await import('../apps/crosstie/dist/cli/manifests/chart.js')
  for (const path of await oldFiles(resolve('deploy/chart'), await chartFiles())) {
    complaints.push(`deploy/chart/${path} is not what 'crosstie manifests' prints: run node scripts/chart.mjs`)
  }
}

/** Checks that every reason of a condition or an event is documented, in the code and on its page. */
async function checkReasons() {
  complaints.push(...reasonComplaints())
  if (!existsSync('packages/resources/dist/reasons-page.js')) return
  const { reasonsPage } = await import('../packages/resources/dist/reasons-page.js')
  if (existsSync(REASONS_PAGE) && readFileSync(REASONS_PAGE, 'utf8') === reasonsPage()) return
  complaints.push(`${REASONS_PAGE} is not what its list says: run node scripts/reasons.mjs --write`)
}

/** Checks that links to files of this repository have a target. */
function checkLinks(page) {
  for (const [, target] of readFileSync(page, 'utf8').matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
    if (/^[a-z]+:/.test(target)) continue
    if (!existsSync(join(dirname(page), target))) complaints.push(`${page}: the link to ${target} leads nowhere`)
  }
}

function pagesBelow(folder) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return files.filter((name) => name.endsWith('.md')).map((name) => join(folder, name))
}

/** Returns the folder below `src` that contains a file, or undefined for files directly in `src`. */
function roomOf(folder, file) {
  return new RegExp(`^${folder}/src/([^/]+)/`).exec(file)?.[1]
}

/** Returns the folder of an import: both '@crosstie/kube' and '../../kube/src/errors.js' are packages/kube. */
function importedFolder(file, specifier) {
  if (specifier.startsWith('.')) {
    const path = normalize(join(dirname(file), specifier))
    return folders.find((folder) => path.startsWith(`${folder}/`))
  }
  const name = /^@crosstie\/([^/]+)/.exec(specifier)?.[1] ?? (specifier === 'crosstie' ? 'crosstie' : undefined)
  return folders.find((folder) => packageName(folder) === name)
}

function packageName(folder) {
  return folder
    .replace(/^(packages|apps)\//, '')
    .replace(/^providers\//, 'provider-')
    .replace(/^test\//, 'test-')
}

function sourceFiles(folder) {
  if (!existsSync(folder)) return [] // Planned folders do not exist yet.
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return files
    .filter((name) => name.endsWith('.ts') && !/(^|\/)(dist|node_modules)\//.test(name))
    .map((name) => join(folder, name))
}
