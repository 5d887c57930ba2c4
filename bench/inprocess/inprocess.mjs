// Measures the in-process Client: durable creates and updates with all checks, compared with the limits of the disk and
// the store.
//   node bench/inprocess/inprocess.mjs [--dir DIR] [--seconds N] [--writers N]
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startServer } from '@crosstie/apiserver'
import { openStore } from '@crosstie/apiserver/store'
import { rawSync } from '../store/disk.mjs'

const { values: options } = parseArgs({
  options: {
    dir: { type: 'string', default: os.tmpdir() },
    seconds: { type: 'string', default: '3' },
    writers: { type: 'string', default: '64' },
  },
})
const home = fs.mkdtempSync(join(options.dir, 'crosstie-bench-'))
process.on('exit', () => fs.rmSync(home, { recursive: true, force: true }))
const seconds = Number(options.seconds)
const writers = Number(options.writers)

const configMaps = { group: '', version: 'v1', kind: 'ConfigMap', resource: 'configmaps', namespaced: true }
const widgets = { group: 'example.org', version: 'v1', kind: 'Widget', resource: 'widgets', namespaced: true }
const crds = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  resource: 'customresourcedefinitions',
  namespaced: false,
}

console.log(`node ${process.version}, ${os.cpus().length} × ${os.cpus()[0]?.model}, ${options.dir}, ${writers} writers`)
const { rate } = await rawSync(join(home, 'raw'), writers * 600, 1)
console.log(
  `the disk alone    ${rate.toFixed(0)} commits/s of ${writers} objects, one after the other: ${Math.round(rate * writers)} writes/s`,
)
await storeAlone()
await client()

async function storeAlone() {
  const store = await openStore({ dataDir: join(home, 'store') })
  const run = await measure(async (n, i) => {
    const key = `//configmaps/default/w${n}-${i}`
    await store.write([{ do: 'put', key, object: map(`w${n}-${i}`, i), expect: 'any' }])
  })
  await store.close()
  show('the store alone', run)
}

async function client() {
  const server = await startServer({ dataDir: join(home, 'server'), host: '127.0.0.1', port: 0 })
  const client = server.client()
  await client.create(crds, definition())
  await new Promise((resolve) => setTimeout(resolve, 500))
  for (const [name, type, make] of [
    ['ConfigMap', configMaps, map],
    ['custom resource', widgets, widget],
  ]) {
    const mine = Array.from({ length: writers }, () => [])
    show(
      `create ${name}`,
      await measure(async (n, i) => {
        mine[n].push(await client.create(type, make(`w${n}-${i}`, i)))
      }),
    )
    show(
      `update ${name}`,
      await measure(async (n, i) => {
        const at = i % mine[n].length
        const { metadata, ...rest } = mine[n][at]
        const labels = { ...metadata.labels, turn: String(i) }
        mine[n][at] = await client.update(type, { ...rest, metadata: { ...metadata, labels } })
      }),
    )
  }
  await server.close()
}

async function measure(write) {
  const cpu = process.cpuUsage()
  const start = performance.now()
  const deadline = start + seconds * 1000
  let count = 0
  const writer = async (n) => {
    for (let i = 0; performance.now() < deadline; i++, count++) await write(n, i)
  }
  await Promise.all(Array.from({ length: writers }, (_, n) => writer(n)))
  const { user, system } = process.cpuUsage(cpu)
  return { count, wall: (performance.now() - start) / 1000, cpu: (user + system) / 1e6 }
}

function show(what, { count, wall, cpu }) {
  const each = ((cpu / count) * 1e6).toFixed(0)
  console.log(`${what.padEnd(24)}${String(Math.round(count / wall)).padStart(7)} writes/s  ${each} µs CPU each`)
}

function map(name, i) {
  const metadata = { name, namespace: 'default', labels: { app: 'bench', shard: String(i % 16) } }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { color: 'red', size: String(i) } }
}

function widget(name, i) {
  const metadata = { name, namespace: 'default', labels: { app: 'bench', shard: String(i % 16) } }
  return { apiVersion: 'example.org/v1', kind: 'Widget', metadata, spec: { color: 'red', size: i } }
}

function definition() {
  const spec = { type: 'object', properties: { color: { type: 'string' }, size: { type: 'integer', minimum: 0 } } }
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
  const versions = [{ name: 'v1', served: true, storage: true, schema }]
  const names = { plural: 'widgets', kind: 'Widget' }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.org' },
    spec: { group: 'example.org', scope: 'Namespaced', names, versions },
  }
}
