// Claims of three parts each: from create to Ready, and from delete to gone.
//   node bench/claims/run.mjs [--n 1000] [--only embedded|kubernetes] [--profile DIR]
// The same controllers run in the embedded server's process, and on kube-apiserver+etcd. CPU seconds of all processes
// tell more than wall time on a noisy machine.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { HttpClient, kubeconfigAccess } from '@crosstie/controller'
import { cpuSeconds, processTree, residentMb } from '../api/processes.mjs'

const root = new URL('../..', import.meta.url).pathname
const { values } = parseArgs({
  options: {
    n: { type: 'string', default: '1000' },
    only: { type: 'string' },
    concurrency: { type: 'string', default: '64' },
    profile: { type: 'string' },
  },
})
const n = Number(values.n)
const crosstie = join(root, 'apps/crosstie/bin/crosstie.js')
const claims = typeOf('database.crossplane.io', 'v1alpha1', 'MySQLInstance', 'mysqlinstances', true)
const classes = typeOf('nop.crossplane.io', 'v1alpha1', 'NopResourceClass', 'nopresourceclasses')
const aggregates = typeOf('aggregation.crossplane.io', 'v1alpha1', 'AggregateResourceClass', 'aggregateresourceclasses')
const parts = typeOf('nop.crossplane.io', 'v1alpha1', 'NopResource', 'nopresources')
const apiVersion = ({ group, version }) => `${group}/${version}`
const round = (number) => Math.round(number * 100) / 100
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

const rows = []
for (const engine of ['embedded', 'kubernetes']) {
  if (!values.only || values.only === engine) await measure(engine)
}
console.table(rows)

async function measure(engine) {
  const folder = mkdtempSync(join(tmpdir(), `bench-claims-${engine}-`))
  const kubeconfig = join(folder, 'kubeconfig')
  const children = []
  const begin = async (args, words, profiled) => {
    const child = await start(args, words, profiled)
    children.push(child)
    return child
  }
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
    const [readySeconds, readyCpu] = await timed(pids, () => untilReady(client))
    row['ready s'] = readySeconds
    row['claims/s'] = round(n / readySeconds)
    row['ms CPU a claim'] = round((readyCpu * 1000) / n)
    row['MB'] = Math.round(residentMb(pids))
    const [goneSeconds, goneCpu] = await timed(pids, () => untilGone(client))
    row['gone s'] = goneSeconds
    row['ms CPU to delete'] = round((goneCpu * 1000) / n)
    client.close()
  } finally {
    for (const child of children.reverse()) await stop(child)
    rmSync(folder, { recursive: true, force: true })
  }
}

/** An aggregate class of three, as soon as the kinds are served. */
async function prepare(client) {
  const labels = { 'resourceclass.crossplane.io/aggregate-to': 'three' }
  const objects = ['a', 'b', 'c'].map((name) => [
    classes,
    { metadata: { name, labels }, specTemplate: { forProvider: { size: 1 } } },
  ])
  const rule = { classSelector: { matchLabels: labels } }
  const annotations = { 'resourceclass.crossplane.io/is-default-class': 'true' }
  objects.push([aggregates, { metadata: { name: 'three', annotations }, aggregationRule: rule }])
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
  for (;;) {
    const { items } = await client.list(claims)
    const isReady = ({ status }) =>
      status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')
    const ready = items.filter((claim) => claim.status?.bindingPhase === 'Bound' && isReady(claim)).length
    if (ready === n) return
    await sleep(250)
  }
}

async function untilGone(client) {
  // kube-apiserver gives up on a long one after a minute, with part of it done.
  await eventually(() => client.deleteCollection(claims, { namespace: 'default' }))
  while ((await client.list(claims)).items.length > 0 || (await client.list(parts)).items.length > 0) await sleep(250)
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

function start(args, words, profiled) {
  const profile = values.profile && profiled ? ['--cpu-prof', `--cpu-prof-dir=${values.profile}`] : []
  const child = spawn(process.execPath, [...profile, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  return new Promise((resolve, reject) => {
    let text = ''
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      for (const line of chunk.split('\n')) if (/WARN|ERROR/.test(line)) console.error(line)
    })
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
      if (words.test(text)) resolve(child)
    })
    child.on('exit', (code) => reject(new Error(`ended with ${code}: ${text}`)))
  })
}

async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.on('exit', resolve))
  child.kill('SIGTERM')
  await ended
}

function typeOf(group, version, kind, resource, namespaced = false) {
  return { group, version, kind, resource, namespaced }
}
