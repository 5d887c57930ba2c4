// Generates the pictures of the README from a real run: docs/images/*.svg. Run it after `npm run build`.
import { execFile, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { terminalSvg } from './terminal-svg.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const crosstie = join(root, 'apps/crosstie/bin/crosstie.js')
const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'crosstie-picture-'))
// As after a clone: the examples are in the folder, and users run the program with npx.
symlinkSync(join(root, 'examples'), join(folder, 'examples'))
const { KUBECONFIG: _, NO_COLOR: __, ...rest } = process.env
const env = { ...rest, FORCE_COLOR: '1', npm_execpath: 'npm' }
// Packing leaves a copy of the examples in the app, which the program prefers.
const examples = [`${root}apps/crosstie/examples`, `${root}examples`]
const shown = (text) =>
  examples.reduce((told, each) => told.replaceAll(each, 'examples'), text.replaceAll(folder, '~/crosstie')).trimEnd()

const child = spawn(process.execPath, [crosstie, 'up', '--example', 'private-database'], { cwd: folder, env })
try {
  const started = await output(child, /Ctrl-C stops it/)
  const first = ['$ npm ci && npm start', ...shown(started).split('\n')]
  const second = []
  const claim = 'postgresqlinstance/app'
  second.push(...(await step(['trace', claim])))
  second.push(...(await step(['connection', claim])))
  second.push(...(await sql('select current_user, current_database()')))
  second.push('', '# Break it: let everybody into the private database.')
  second.push(...(await sql('grant connect on database :database to public')).slice(1))
  await until(async () => /Corrected/.test((await crosstieSays(['drift', '--corrected'])).stdout))
  second.push('', '# Seconds later it is private again.')
  second.push(...(await step(['drift', '--corrected'])).slice(1))
  mkdirSync(join(root, 'docs/images'), { recursive: true })
  write('first-claim.svg', first, 'npm start: a claim becomes a real database')
  write('break-and-heal.svg', second, 'Log in, break it, see it put right')
} finally {
  child.kill('SIGTERM')
  await new Promise((resolve) => child.on('exit', resolve))
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

function write(name, lines, title) {
  if (lines.some((line) => line.includes(root))) throw new Error(`${name} would show a path of this machine`)
  writeFileSync(join(root, 'docs/images', name), terminalSvg(lines, title))
  console.log(`wrote docs/images/${name}`)
}

function output(process, words) {
  return new Promise((resolve, reject) => {
    let text = ''
    process.stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
      if (words.test(text)) resolve(text)
    })
    process.on('exit', (code) => reject(new Error(`crosstie up ended with ${code}: ${text}`)))
  })
}

async function crosstieSays(args) {
  // `drift` exits with a separate code if there is drift.
  return await run(process.execPath, [crosstie, ...args], { cwd: folder, env }).catch((error) => error)
}

async function step(args) {
  const { stdout } = await crosstieSays(args)
  return ['', `$ npx crosstie ${args.join(' ')}`, ...shown(stdout).split('\n')]
}

async function sql(statement) {
  const script = 'examples/private-database/sql.mjs'
  const { stdout } = await run(process.execPath, [join(root, script), statement], { cwd: folder, env })
  return ['', `$ node ${script} "${statement}"`, ...shown(stdout).split('\n')]
}

async function until(look) {
  for (let i = 0; i < 120; i++) {
    if (await look()) return
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  throw new Error('it was never put right')
}
