// The embedded API server beside kube-apiserver+etcd, in one run, with the same load program.
//   npm run bench:api -- [--duration 10s] [--n 10000] [--only embedded|kubernetes]
// CPU seconds are those of the server processes; on a noisy machine they and the ratios tell more than wall time.
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildLoadgen } from '../programs.mjs'
import { cpuSeconds, processTree, residentMb } from './processes.mjs'
import { fanOut, firstWrite, tableLists } from './workloads.mjs'

const root = new URL('../..', import.meta.url).pathname
const { values } = parseArgs({
  options: {
    duration: { type: 'string', default: '10s' },
    n: { type: 'string', default: '10000' },
    only: { type: 'string' },
  },
})

const targets = {
  embedded: (folder) => ({
    command: [
      'node',
      join(root, 'apps/crosstie/bin/crosstie.js'),
      'up',
      '--providers',
      'nop',
      '--listen',
      '127.0.0.1:0',
    ],
    args: ['--data-dir', join(folder, 'data'), '--kubeconfig', join(folder, 'kubeconfig')],
    counts: () => true,
  }),
  kubernetes: (folder) => ({
    command: ['node', join(root, 'scripts/oracle.mjs'), 'start'],
    args: ['--kubeconfig', join(folder, 'kubeconfig')],
    // The controller manager is no part of what is compared.
    counts: (name) => name === 'kube-apiserver' || name === 'etcd',
  }),
}

const loadgen = buildLoadgen()
const results = {}
for (const [name, describe] of Object.entries(targets)) {
  if (values.only && values.only !== name) continue
  results[name] = await measure(name, describe)
}
report(results)

async function measure(name, describe) {
  const folder = mkdtempSync(join(tmpdir(), `bench-${name}-`))
  const { command, args, counts } = describe(folder)
  const started = performance.now()
  const child = spawn(command[0], [...command.slice(1), ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    await readyLine(child)
    const kubeconfig = join(folder, 'kubeconfig')
    const rows = { 'launch to first acknowledged write': { ms: await firstWrite(kubeconfig, started) } }
    const pids = processTree(child.pid).filter(({ name: program }) => counts(program))
    const server = { kubeconfig, pids: pids.map(({ pid }) => pid) }
    rows['memory at rest'] = { mb: residentMb(server.pids) }
    apply(kubeconfig)
    Object.assign(rows, populate(server), await extra(server), load(server))
    return rows
  } finally {
    child.kill('SIGTERM')
    await new Promise((resolve) => child.on('close', resolve))
    rmSync(folder, { recursive: true, force: true })
  }
}

function readyLine(child) {
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
      if (/^ready:/m.test(text)) resolve()
    })
    child.on('close', () => reject(new Error(`${child.spawnfile} ended before it was ready: ${text}`)))
  })
}

function apply(kubeconfig) {
  const manifests = ['nopresource-crd.yaml', 'small-crd.yaml'].map((file) =>
    join(root, 'bench/loadgen/manifests', file),
  )
  execFileSync(loadgen, ['apply', '--kubeconfig', kubeconfig, ...manifests], { stdio: 'ignore' })
}

/** Objects once created stay for the lists; the memory is read with exactly them in the store. */
function populate(server) {
  const [row] = w6(server, ['--steps', 'create', '--levels', '64', '--duration', '1ms', '--keep'])
  void row
  return { [`memory with ${values.n} objects`]: { mb: residentMb(server.pids) } }
}

async function extra(server) {
  const cpu = () => cpuSeconds(server.pids)
  return { ...(await tableLists(server.kubeconfig, cpu)), ...(await fanOut(server.kubeconfig, cpu)) }
}

function load(server) {
  const rows = {}
  for (const row of w6(server, ['--levels', '1,16,64'])) {
    const { step, concurrency, cpu_ms_per_op: cpuMs, ops_per_s: rate, ms, cpu_s: cpu, times } = row
    const name = concurrency && cpuMs ? `${step}, ${concurrency} clients` : step
    const perOp = cpuMs ?? (times ? (cpu.total * 1000) / times : undefined)
    rows[name] = { cpuMs: perOp, rate, p50: ms?.p50, p99: ms?.p99 }
  }
  return rows
}

function w6({ kubeconfig, pids }, args) {
  const named = pids.map((pid, i) => `p${i}=${pid}`).join(',')
  const all = [
    'w6',
    '--kubeconfig',
    kubeconfig,
    '--n',
    values.n,
    '--duration',
    values.duration,
    '--pids',
    named,
    ...args,
  ]
  const text = execFileSync(loadgen, all, { encoding: 'utf8', maxBuffer: 1 << 26 })
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

function report(all) {
  const { embedded = {}, kubernetes = {} } = all
  const names = Object.keys({ ...embedded, ...kubernetes })
  const show = (value) => (value === undefined ? '' : value >= 100 ? value.toFixed(0) : value.toPrecision(3))
  const lines = ['| what | embedded | kube-apiserver+etcd | ratio |', '| --- | --- | --- | --- |']
  for (const name of names) {
    for (const [unit, label] of [
      ['ms', 'ms'],
      ['mb', 'MB'],
      ['cpuMs', 'CPU ms'],
      ['rate', '/s'],
    ]) {
      const [a, b] = [embedded[name]?.[unit], kubernetes[name]?.[unit]]
      if (a === undefined && b === undefined) continue
      const ratio = a !== undefined && b ? (b / a).toPrecision(3) : ''
      lines.push(
        `| ${name} (${label}) | ${show(a)} | ${show(b)} | ${unit === 'rate' && ratio ? (a / b).toPrecision(3) : ratio} |`,
      )
    }
  }
  console.log(lines.join('\n'))
  mkdirSync(join(root, 'bench/results'), { recursive: true })
  const file = join(root, 'bench/results', `api-${new Date().toISOString().slice(0, 16).replace(/:/g, '')}.json`)
  writeFileSync(
    file,
    JSON.stringify({ date: new Date().toISOString(), cpu: cpuModel(), options: values, results: all }, null, 2),
  )
  console.log(`\nwritten to ${file}`)
}

function cpuModel() {
  try {
    return /model name\s*:\s*(.+)/.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1]
  } catch {
    return undefined
  }
}
