// Measures managed resources: from apply to Ready, idle, deleted, and observed again after a restart.
//   node bench/managed/run.mjs [--n 1000,10000] [--only embedded|kubernetes] [--settle 60] [--steady 60s] [--keep] [--profile DIR]
// --keep skips the deletion, which takes 15 minutes for 100,000 resources on kube-apiserver.
// The same controllers run in the process of the embedded server, and on kube-apiserver+etcd. On a noisy machine
// the CPU seconds of all processes are more reliable than wall time.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { processTree, residentMb } from '../api/processes.mjs'
import { buildLoadgen, startProgram, stopProgram } from '../programs.mjs'

const root = new URL('../..', import.meta.url).pathname
const { values } = parseArgs({
  options: {
    n: { type: 'string', default: '1000,10000' },
    only: { type: 'string' },
    settle: { type: 'string', default: '60' },
    steady: { type: 'string', default: '60s' },
    concurrency: { type: 'string', default: '64' },
    keep: { type: 'boolean', default: false },
    profile: { type: 'string' },
  },
})

const crosstie = join(root, 'apps/crosstie/bin/crosstie.js')
const loadgen = buildLoadgen()
const rows = []
for (const n of values.n.split(',').map(Number)) {
  for (const engine of ['embedded', 'kubernetes']) {
    if (!values.only || values.only === engine) await measure(engine, n)
  }
}
console.table(rows)

async function measure(engine, n) {
  const folder = mkdtempSync(join(tmpdir(), `bench-managed-${engine}-`))
  const kubeconfig = join(folder, 'kubeconfig')
  const port = await freePort()
  const metricUrl = `http://127.0.0.1:${port}/metrics`
  const children = []
  const begin = async (name, args, words) => {
    const profile = name === 'oracle' ? undefined : values.profile
    const child = await startProgram(args, words, { profile })
    children.push(child)
    return child
  }
  const metrics = ['--providers', 'nop', '--metrics', `127.0.0.1:${port}`]
  const control = () =>
    engine === 'embedded'
      ? begin(
          'up',
          [
            crosstie,
            'up',
            '--providers',
            'nop',
            '--listen',
            '127.0.0.1:0',
            '--data-dir',
            join(folder, 'data'),
            '--kubeconfig',
            kubeconfig,
            ...metrics,
          ],
          /^ready:/m,
        )
      : begin(
          'controllers',
          [crosstie, 'controllers', '--kubeconfig', kubeconfig, '--standalone', ...metrics],
          /^starting:/m,
        )
  try {
    const server = engine === 'embedded' ? [] : await kubernetes(begin, kubeconfig)
    let controllers = await control()
    const pids = () =>
      [...server, { name: 'crosstie', pid: controllers.pid }].map(({ name, pid }) => `${name}=${pid}`).join(',')
    const load = (workload, ...args) => {
      const where = ['--kubeconfig', kubeconfig, '--pids', pids(), '--metric-url', metricUrl]
      const common = [...where, '--n', String(n), '--timeout', '2h']
      const text = execFileSync(loadgen, [workload, ...common, ...args], { encoding: 'utf8', maxBuffer: 1e8 })
      const result = JSON.parse(text)
      // Printed immediately, because the next step is slow with 100,000 resources.
      console.error(JSON.stringify({ engine, ...result }))
      return result
    }
    await served(metricUrl)
    const row = { engine, n }
    rows.push(row)
    const ready = load('w1', '--concurrency', values.concurrency)
    row['ms CPU to Ready'] = ready.cpu_ms_per_mr
    row['ready/s'] = ready.mr_per_s
    row['p99 ms'] = ready.create_to_ready_ms.p99
    // The garbage of the creates in V8 and Go must not count for the no-op reconciles.
    await new Promise((resolve) => setTimeout(resolve, Number(values.settle) * 1000))
    const steady = load('w2', '--metric', 'crosstie_managed_reconciles_total', '--duration', values.steady)
    row['ms CPU per no-op'] = steady.cpu_s_per_1000_reconciles?.total
    row['no-op/s'] = steady.reconciles_per_s
    row['MB'] = Math.round(residentMb([...server.map(({ pid }) => pid), controllers.pid]))
    await stopProgram(controllers)
    const again = ['--metric', 'crosstie_managed_observed', '--t0-ns', String(BigInt(Date.now()) * 1_000_000n)]
    controllers = await control()
    const restarted = load('w5', ...again)
    row['restart s'] = restarted.wall_s
    if (values.keep) return
    const gone = load('w1d', '--concurrency', values.concurrency)
    row['ms CPU to delete'] = Math.round((gone.cpu_s.total * 1e5) / n) / 100
  } finally {
    for (const child of children.reverse()) await stopProgram(child)
    rmSync(folder, { recursive: true, force: true })
  }
}

async function kubernetes(begin, kubeconfig) {
  const oracle = await begin(
    'oracle',
    [join(root, 'scripts/oracle.mjs'), 'start', '--kubeconfig', kubeconfig],
    /^ready:/m,
  )
  const programs = ['kube-apiserver', 'etcd']
  return processTree(oracle.pid).filter(({ name }) => programs.includes(name))
}

/** Waits until the kind is served, which is when its controller has a queue. */
async function served(url) {
  for (;;) {
    const text = await fetch(url).then(
      (answer) => answer.text(),
      () => '',
    )
    if (text.includes('crosstie_queue_depth')) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}
