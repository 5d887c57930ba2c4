// Sets the version of all packages, of the dependencies between them, and of the places that name an image tag.
//   node scripts/set-version.mjs 0.2.0
// Afterwards run `npm install --package-lock-only` and `node scripts/chart.mjs` (RELEASING.md).
import { readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { globSync } from './glob.mjs'

/** Files that contain the image tag. */
const TAGGED = ['deploy/Dockerfile', 'docs/guides/run-on-kubernetes.md']
const isOurs = (name) => name === 'crosstie' || name.startsWith('@crosstie/')

/** Returns a message for every package whose version, or whose dependency on another package here, differs. */
export function versionComplaints() {
  const { version } = JSON.parse(readFileSync('apps/crosstie/package.json', 'utf8'))
  const advice = `run node scripts/set-version.mjs ${version}`
  return manifests().flatMap(([file, manifest]) => {
    const wrong = Object.entries(manifest.dependencies ?? {}).filter(([name, to]) => isOurs(name) && to !== version)
    const complaints = wrong.map(([name, to]) => `${file}: depends on ${name} ${to}, not ${version}: ${advice}`)
    if (manifest.version !== undefined && manifest.version !== version) {
      complaints.push(`${file}: has the version ${manifest.version}, not ${version}: ${advice}`)
    }
    return complaints
  })
}

function manifests() {
  const files = globSync(['packages', 'providers', 'apps', 'test', 'bench'], /^[^/]+\/(?:[^/]+\/)?package\.json$/)
  return files.map((file) => [file, JSON.parse(readFileSync(file, 'utf8'))])
}

function setVersion(version) {
  const before = JSON.parse(readFileSync('apps/crosstie/package.json', 'utf8')).version
  for (const [file, manifest] of manifests()) {
    if (manifest.version !== undefined) manifest.version = version
    for (const name of Object.keys(manifest.dependencies ?? {})) if (isOurs(name)) manifest.dependencies[name] = version
    writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`)
  }
  for (const file of TAGGED) {
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(`crosstie:${before}`, `crosstie:${version}`))
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [version] = process.argv.slice(2)
  if (!/^\d+\.\d+\.\d+$/.test(version ?? '')) throw new Error('usage: node scripts/set-version.mjs X.Y.Z')
  setVersion(version)
}
