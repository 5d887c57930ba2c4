// Writes the data directory that the upgrade test opens: test/end-to-end/testdata/upgrade-0.1.0/data.json.gz.
//   git worktree add /tmp/old 6d14871 && (cd /tmp/old && npm ci && npx tsc -b)
//   node scripts/upgrade-fixture.mjs /tmp/old
// 6d14871 is the last commit of version 0.1.0. Only run this again if the fixture must contain more objects.
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const FIXTURE = 'test/end-to-end/testdata/upgrade-0.1.0'
/** Files that a start creates again, or that only matter while the program runs. */
const TRANSIENT = /(^|\/)(kubeconfig|lock|.*\.lock|.*\.pid)$/

/**
 * Objects whose JSON before the upgrade is stored beside the data. Stored as text, because JSON.parse would round
 * an int64.
 */
const OBJECTS = [
  ['secret', 'password', '-n', 'upgrade'],
  ['configmap', 'settings', '-n', 'upgrade'],
  ['gadget', 'large', '-n', 'upgrade'],
  ['bucket', 'files', '-n', 'upgrade'],
  ['nopresource', 'plain'],
]

const [checkout] = process.argv.slice(2)
if (!checkout) throw new Error('usage: node scripts/upgrade-fixture.mjs CHECKOUT')
const program = join(checkout, 'apps/crosstie/bin/crosstie.js')
const folder = mkdtempSync(join(tmpdir(), 'crosstie-fixture-'))
const dataDir = join(folder, 'data')
try {
  const objects = await writeObjects()
  const files = Object.fromEntries(
    filesBelow(dataDir).map((name) => [name, readFileSync(join(dataDir, name), 'base64')]),
  )
  const text = `${JSON.stringify({ version: versionOf(checkout), objects, files })}\n`
  writeFileSync(join(FIXTURE, 'data.json.gz'), gzipSync(text, { level: 9 }))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function writeObjects() {
  const args = ['up', '--data-dir', dataDir, '--listen', '127.0.0.1:0', '--providers', 'nop']
  const plane = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => plane.once('exit', resolve))
  await new Promise((resolve, reject) => {
    let output = ''
    plane.stdout.setEncoding('utf8').on('data', (text) => {
      output += text
      if (/^ready: /m.test(output)) resolve()
    })
    ended.then((code) => reject(new Error(`crosstie up ended with ${code}: ${output}`)))
  })
  run('apply', '-f', join(FIXTURE, 'objects.yaml'))
  run('apply', '-f', join(FIXTURE, 'claim.yaml'))
  run('wait', 'nopresource/plain', '--timeout', '2m')
  run('wait', 'bucket/files', '-n', 'upgrade', '--timeout', '2m')
  const objects = OBJECTS.map((args) => capture('get', ...args, '-o', 'json'))
  plane.kill('SIGTERM')
  await ended
  return objects
}

function run(...args) {
  process.stdout.write(capture(...args))
}

function capture(...args) {
  const env = { ...process.env, KUBECONFIG: join(dataDir, 'kubeconfig') }
  return execFileSync(process.execPath, [program, ...args], { env, encoding: 'utf8' })
}

function filesBelow(root) {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' })
  return names.filter((name) => statSync(join(root, name)).isFile() && !TRANSIENT.test(name)).sort()
}

function versionOf(root) {
  return JSON.parse(readFileSync(join(root, 'apps/crosstie/package.json'), 'utf8')).version
}
