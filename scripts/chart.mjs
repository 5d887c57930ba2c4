// Writes the Helm chart in deploy/chart from the same source as `crosstie manifests`.
//   node scripts/chart.mjs           write it
//   node scripts/chart.mjs --check   fail if it is out of date
//   node scripts/chart.mjs FOLDER    write a chart with all kinds in crds/ to the folder
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'

const root = new URL('..', import.meta.url)
const { status } = spawnSync('npx', ['tsc', '-b', 'apps/crosstie'], { cwd: root, stdio: ['ignore', 2, 2] })
if (status !== 0) process.exit(1)
const { chartFiles, oldFiles, writeChart } = await import('../apps/crosstie/dist/cli/manifests/chart.js')
const out = process.argv.slice(2).find((arg) => !arg.startsWith('-'))
if (out) {
  await writeChart(resolve(out), await chartFiles({ kinds: true }))
  process.exit(0)
}
const folder = new URL('deploy/chart', root).pathname
const files = await chartFiles()
const old = await oldFiles(folder, files)
if (process.argv.includes('--check')) {
  for (const path of old) console.error(`deploy/chart/${path} is old: run node scripts/chart.mjs`)
  process.exit(old.length > 0 ? 1 : 0)
}
await writeChart(folder, files)
console.log(`${files.size} files, ${old.length} written`)
