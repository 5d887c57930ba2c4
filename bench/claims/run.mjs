// Measures claims of three members each: from create to Ready, and from delete to gone.
//   node bench/claims/run.mjs [--n 1000] [--only embedded|kubernetes] [--profile DIR] [--writes]
// `--writes` reports the number of changes per claim by kind. The watches for it add load to the server.
// The same controllers run in the process of the embedded server, and on kube-apiserver+etcd. On a noisy machine
// the CPU seconds of all processes are more reliable than wall time.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { HttpClient, kubeconfigAccess } from '@crosstie/controller'
import { cpuSeconds, processTree, residentMb } from '../api/processes.mjs'
import { startProgram, stopProgram } from '../programs.mjs'

const root = new URL('../..', import.meta.url).pathname
const { values } = parseArgs({
  options: {
    n: { type: 'string', default: '1000' },
    only: { type: 'string' },
    concurrency: { type: 'string', default: '64' },
    profile: { type: 'string' },
    writes: { type: 'boolean', default: false },
  },
})
const n = Number(values.n)
const crosstie = join(root, 'apps/crosstie/bin/crosstie.js')
const claims = typeOf('database.crossplane.io', 'v1alpha1', 'MySQLInstance', 'mysqlinstances', true)
const classes = typeOf('nop.crossplane.io', 'v1alpha1', 'NopResourceClass', 'nopresourceclasses')
const aggregateClasses = typeOf(
  'aggregation.crossplane.io',
  'v1alpha1',
  'AggregateResourceClass',
  'aggregateresourceclasses',
)
const aggregates = typeOf('aggregation.crossplane.io', 'v1alpha1', 'AggregateResource', 'aggregateresources')
const events = typeOf('', 'v1', 'Event', 'events', true)
const parts = typeOf('nop.crossplane.io', 'v1alpha1', 'NopResource', 'nopresources')
const apiVersion = ({ group, version }) => (group ? `${group}/${version}` : version)
const round = (number) => Math.round(number * 100) / 100
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** The timeout of each step. A step that takes longer is stuck. */
const PATIENCE_MS = 1_800_000

const rows = []
// An interrupt stops all servers.
const running = new Set()
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    for (const child of [...running].reverse()) await stop(child)
    process.exit(1)
  })
}
for (const engine of ['embedded', 'kubernetes']) {
  if (!values.only || values.only === engine) await measure(engine)
}
console.table(rows)

async function measure(engine) {
  const folder = mkdtempSync(join(tmpdir(), `bench-claims-${engine}-`))
  const kubeconfig = join(folder, 'kubeconfig')
  try {
    const pids = []
    if (engine === 'embedded') {
      const where = ['--listen', '127.0.0.1:0', '--data-dir', join(folder, 'data'), '--kubeconfig', kubeconfig]
      pids.push((await begin([crosstie, 'up', '--providers', 'nop', ...where], /^ready:/m, true)).pid)
    } else {
      const oracle = await begin([join(root, 'scripts/oracle.mjs'), 'start', '--kubeconfig', kubeconfig], /^ready:/m)
      const programs = ['kube-apiserver', 'etcd']
      pids.push(
        ...processTree(oracle.pid)
          .filter(({ name }) => programs.includes(name))
          .map(({ pid }) => pid),
      )
      const controllers = [crosstie, 'controllers', '--providers', 'nop', '--kubeconfig', kubeconfig, '--standalone']
      pids.push((await begin(controllers, /^starting:/m, true)).pid)
    }
    const client = new HttpClient(await kubeconfigAccess({ file: kubeconfig }))
    await prepare(client)
    const row = { engine, claims: n }
    rows.push(row)
    const counting = values.writes ? await countWrites(client) : undefined
    const [readySeconds, readyCpu] = await timed(pids, () => untilReady(client))
    row['ready s'] = readySeconds
    row['claims/s'] = round(n / readySeconds)
    row['ms CPU a claim'] = round((readyCpu * 1000) / n)
    row['MB'] = Math.round(residentMb(pids))
    counting?.tell(`${engine}, changes a claim until it is ready`)
    const [goneSeconds, goneCpu] = await timed(pids, () => untilGone(client))
    counting?.tell(`${engine}, changes a claim until it is gone`)
    counting?.end()
    row['gone s'] = goneSeconds
    row['ms CPU to delete'] = round((goneCpu * 1000) / n)
    console.log(row)
    client.close()
  } finally {
    for (const child of [...running].reverse()) await stop(child)
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Creates an aggregate class with three members, as soon as the kinds are served. */
async function prepare(client) {
  const labels = { 'resourceclass.crossplane.io/aggregate-to': 'three' }
  const objects = ['a', 'b', 'c'].map((name) => [
    classes,
    { metadata: { name, labels }, specTemplate: { forProvider: { size: 1 } } },
  ])
  const rule = { classSelector: { matchLabels: labels } }
  const annotations = { 'resourceclass.crossplane.io/is-default-class': 'true' }
  objects.push([aggregateClasses, { metadata: { name: 'three', annotations }, aggregationRule: rule }])
  for (const [type, object] of objects) {
    await eventually(() => client.create(type, { apiVersion: apiVersion(type), kind: type.kind, ...object }))
  }
  await eventually(() => client.list(claims))
}

async function untilReady(client) {
  const names = Array.from({ length: n }, (_, i) => `claim-${i}`).values()
  const worker = async () => {
    for (const name of names) {
      const metadata = { name, namespace: 'default' }
      await client.create(claims, { apiVersion: apiVersion(claims), kind: claims.kind, metadata, spec: {} })
    }
  }
  await Promise.all(Array.from({ length: Number(values.concurrency) }, worker))
  const isReady = ({ status }) =>
    status?.bindingPhase === 'Bound' &&
    status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')
  await until(async () => {
    const ready = (await client.list(claims)).items.filter(isReady).length
    return ready === n ? '' : `${ready} of ${n} claims are ready`
  })
}

async function untilGone(client) {
  // kube-apiserver aborts a long request after a minute, when it is partially done.
  await eventually(() => client.deleteCollection(claims, { namespace: 'default' }))
  await until(async () => {
    const left = await Promise.all(
      [claims, aggregates, parts].map(async (type) => (await client.list(type)).items.length),
    )
    return left.every((count) => count === 0) ? '' : `${left.join(', ')} claims, aggregates and parts are left`
  })
}

/** Waits until `obstacle` returns nothing. On timeout the error contains the obstacle. */
async function until(obstacle) {
  for (const began = performance.now(); ; ) {
    const what = await obstacle()
    if (what === '') return
    if (performance.now() - began > PATIENCE_MS) throw new Error(`after ${PATIENCE_MS / 60_000} minutes ${what}`)
    await sleep(250)
  }
}

/** Watches all kinds that are related to claims, and counts their changes. */
async function countWrites(client) {
  const ending = new AbortController()
  let counts = {}
  for (const type of [claims, aggregates, parts, events]) {
    const { metadata } = await client.list(type)
    let { resourceVersion } = metadata
    const follow = async () => {
      while (!ending.signal.aborted) {
        for await (const { type: how, object } of client.watch(type, { resourceVersion, signal: ending.signal })) {
          resourceVersion = object.metadata.resourceVersion
          const what = type === events && how === 'ADDED' ? ` ${object.involvedObject.kind} ${object.reason}` : ''
          const name = `${type.kind} ${how}${what}`
          counts[name] = (counts[name] ?? 0) + 1
        }
      }
    }
    follow().catch((error) => ending.signal.aborted || console.error(error))
  }
  const tell = (title) => {
    const each = Object.entries(counts).map(([what, count]) => [what, round(count / n)])
    const total = round(each.reduce((sum, [, count]) => sum + count, 0))
    console.log(title, Object.fromEntries([...each.sort(), ['total', total]]))
    counts = {}
  }
  return { tell, end: () => ending.abort() }
}

async function timed(pids, run) {
  const [began, cpu] = [performance.now(), cpuSeconds(pids)]
  await run()
  return [round((performance.now() - began) / 1000), cpuSeconds(pids) - cpu]
}

async function eventually(run) {
  for (let tries = 0; ; tries++) {
    try {
      return await run()
    } catch (error) {
      if (tries > 200) throw error
      await sleep(100)
    }
  }
}

function begin(args, words, profiled) {
  return startProgram(args, words, { profile: profiled && values.profile, begun: (child) => running.add(child) })
}

async function stop(child) {
  running.delete(child)
  await stopProgram(child)
}

function typeOf(group, version, kind, resource, namespaced = false) {
  return { group, version, kind, resource, namespaced }
}
