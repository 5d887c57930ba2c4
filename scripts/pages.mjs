// Writes the reference pages of all kinds from their definitions: docs/reference/<group>/<Kind>.md.
//   node scripts/pages.mjs           write pages that are out of date or missing, remove pages without a kind
//   node scripts/pages.mjs --check   fail if a page is out of date
import { spawnSync } from 'node:child_process'

const root = new URL('..', import.meta.url)
const { status } = spawnSync('npx', ['tsc', '-b', 'apps/crosstie'], { cwd: root, stdio: ['ignore', 2, 2] })
if (status !== 0) process.exit(1)
const { referencePages, oldPages, writePages } = await import('../apps/crosstie/dist/reference/kind-pages.js')
const folder = new URL('docs/reference/', root).pathname
const pages = await referencePages()
const old = await oldPages(folder, pages)
if (process.argv.includes('--check')) {
  for (const page of old) console.error(`docs/reference/${page} is not what its kind says: run node scripts/pages.mjs`)
  process.exit(old.length > 0 ? 1 : 0)
}
await writePages(folder, pages, old)
console.log(`${pages.size} pages, ${old.length} written`)
