// Opens a store in a new process and reports the cost. Used by store.mjs.
import { openStore } from '@crosstie/apiserver/store'

const [dataDir, mode] = process.argv.slice(2)
const MiB = 2 ** 20
const used = async () => {
  // The memory of buffers is released a little after the collection that finds them unreachable.
  for (let i = 0; i < 4; i++) {
    globalThis.gc?.()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const { heapUsed, external, arrayBuffers, rss } = process.memoryUsage()
  return { heap: heapUsed, all: heapUsed + external, arrayBuffers, rss }
}

const before = await used()
const cpu = process.cpuUsage()
const start = performance.now()
const store = await openStore({ dataDir })
const opened = performance.now() - start
const { user, system } = process.cpuUsage(cpu)
const { items } = store.list('')
const json = items.reduce((sum, { bytes }) => sum + bytes.length, 0)

if (mode === 'open') {
  const after = await used()
  const overhead = (after.all - before.all - json) / items.length
  const rss = (after.rss / MiB).toFixed(0)
  const spent = ((user + system) / 1000).toFixed(0)
  console.log(
    `  opened in ${opened.toFixed(0)} ms (${spent} ms CPU); ${overhead.toFixed(0)} bytes each beside the JSON, rss ${rss} MiB`,
  )
} else {
  time('list all', 20, () => store.list('/example.org/widgets/'))
  time('page of 500 in the middle', 200, () =>
    store.list('/example.org/widgets/', { after: items[items.length >> 1].key, limit: 500 }),
  )
  time('get', 200_000, (i) => store.get(items[(i * 7919) % items.length].key))
  for (const item of items) void item.object
  const after = await used()
  const overhead = (after.all - before.all - json) / items.length
  console.log(`  ${overhead.toFixed(0)} bytes each beside the JSON once all objects were asked for`)
}
await store.close()

function time(what, times, body) {
  for (let i = 0; i < times / 10; i++) body(i)
  const begin = performance.now()
  for (let i = 0; i < times; i++) body(i)
  const each = ((performance.now() - begin) / times) * 1000
  console.log(`  ${what}: ${each.toFixed(each < 10 ? 2 : 0)} µs`)
}
