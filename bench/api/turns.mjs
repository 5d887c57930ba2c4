// Measures few clients on a noisy machine: both servers run and are measured in turns, each turn with the same
// number of objects. Reports medians, and the least disturbed turn of each.
//   node bench/api/turns.mjs [--turns 5] [--duration 3s] [--clients 1] [--n 1000]
import { parseArgs } from 'node:util'
import { cpuSeconds } from './processes.mjs'
import { applyDefinitions, SERVERS, startServer, w6 } from './servers.mjs'
import { fanOut } from './workloads.mjs'

const { values } = parseArgs({
  options: {
    turns: { type: 'string', default: '5' },
    duration: { type: 'string', default: '3s' },
    clients: { type: 'string', default: '1' },
    n: { type: 'string', default: '1000' },
  },
})

const servers = []
/** CPU milliseconds by operation and server, for each turn. */
const measured = []
try {
  for (const name of SERVERS) {
    const server = await startServer(name)
    servers.push(server)
    applyDefinitions(server)
  }
  for (let turn = 0; turn < Number(values.turns); turn++) for (const server of servers) await measure(server)
} finally {
  for (const server of servers) await server.stop()
}
report()

async function measure(server) {
  const note = (what, cpuMs) => measured.push({ what, server: server.name, cpuMs })
  const steps = ['--steps', 'create,get,update', '--levels', values.clients]
  const { n, duration } = values
  for (const { step, concurrency, cpu_ms_per_op: cpuMs } of w6(server, { n, duration }, steps)) {
    if (cpuMs) note(`${step}, ${concurrency} client${concurrency > 1 ? 's' : ''}`, cpuMs)
  }
  for (const [what, { cpuMs }] of Object.entries(await fanOut(server.kubeconfig, () => cpuSeconds(server.pids)))) {
    note(what, cpuMs)
  }
}

function report() {
  console.log('| CPU ms | embedded | kube-apiserver+etcd | ratio | least | least | ratio |')
  console.log('| --- | --- | --- | --- | --- | --- | --- |')
  for (const what of new Set(measured.map((one) => one.what))) {
    const turnsOf = (server) =>
      measured.filter((one) => one.what === what && one.server === server).map(({ cpuMs }) => cpuMs)
    const cells = [median, least].flatMap((of) => {
      const [ours, theirs] = SERVERS.map((server) => of(turnsOf(server)))
      return [ours.toFixed(2), theirs.toFixed(2), (theirs / ours).toFixed(1)]
    })
    console.log(`| ${[what, ...cells].join(' | ')} |`)
  }
}

function median(numbers) {
  return [...numbers].sort((a, b) => a - b)[numbers.length >> 1]
}

function least(numbers) {
  return Math.min(...numbers)
}
