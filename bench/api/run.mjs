// Compares the embedded API server with kube-apiserver+etcd, in one run, with the same load program.
//   npm run bench:api -- [--duration 10s] [--n 10000] [--only embedded|kubernetes]
// CPU seconds are those of the server processes. On a noisy machine they and the ratios are more reliable than wall
// time.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { cpuSeconds, residentMb } from './processes.mjs'
import { applyDefinitions, populate, SERVERS, startServer, w6 } from './servers.mjs'
import { fanOut, firstWrite, tableLists } from './workloads.mjs'

const root = new URL('../..', import.meta.url).pathname
const { values } = parseArgs({
  options: {
    duration: { type: 'string', default: '10s' },
    n: { type: 'string', default: '10000' },
    only: { type: 'string' },
  },
})

const results = {}
for (const name of SERVERS) if (!values.only || values.only === name) results[name] = await measure(name)
report(results)

async function measure(name) {
  const server = await startServer(name)
  try {
    const rows = { 'launch to first acknowledged write': { ms: await firstWrite(server.kubeconfig, server.started) } }
    rows['memory at rest'] = { mb: residentMb(server.pids) }
    applyDefinitions(server)
    // These objects stay for the lists. The memory is measured with exactly these in the store.
    populate(server, values.n)
    rows[`memory with ${values.n} objects`] = { mb: residentMb(server.pids) }
    return Object.assign(rows, await extra(server), load(server))
  } finally {
    await server.stop()
  }
}

async function extra(server) {
  const cpu = () => cpuSeconds(server.pids)
  return { ...(await tableLists(server.kubeconfig, cpu)), ...(await fanOut(server.kubeconfig, cpu)) }
}

function load(server) {
  const rows = {}
  for (const row of w6(server, values, ['--levels', '1,16,64'])) {
    const { step, concurrency, cpu_ms_per_op: cpuMs, ops_per_s: rate, ms, cpu_s: cpu, times } = row
    const name = concurrency && cpuMs ? `${step}, ${concurrency} clients` : step
    const perOp = cpuMs ?? (times ? (cpu.total * 1000) / times : undefined)
    rows[name] = { cpuMs: perOp, rate, p50: ms?.p50, p99: ms?.p99 }
  }
  return rows
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
