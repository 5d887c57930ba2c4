// Measures the store in process: durable writes, opening, memory and reads, compared with the limits of the disk.
//   node --expose-gc bench/store/store.mjs [--dir DIR] [--seconds N] [--objects N,N]
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openStore } from '@crosstie/apiserver/store'
import { rawSync } from './disk.mjs'
import { widget } from './objects.mjs'

const { values: options } = parseArgs({
  options: {
    dir: { type: 'string', default: os.tmpdir() },
    seconds: { type: 'string', default: '3' },
    objects: { type: 'string', default: '10000,100000' },
  },
})
const home = fs.mkdtempSync(join(options.dir, 'crosstie-bench-'))
process.on('exit', () => fs.rmSync(home, { recursive: true, force: true }))
const seconds = Number(options.seconds)
const keyOf = (i) => `/example.org/widgets/default/widget-${String(i).padStart(7, '0')}`

console.log(`node ${process.version}, ${os.cpus().length} × ${os.cpus()[0]?.model}, ${options.dir}`)
console.log(`an object has ${JSON.stringify(widget(1)).length} bytes of JSON\n`)

await durableWrites()
for (const count of options.objects.split(',').map(Number)) await manyObjects(count)

async function durableWrites() {
  console.log('durable writes (creates, then updates, of one object each)')
  for (const writers of [1, 16, 64]) {
    const before = await rawSync(join(home, 'raw'), Math.max(1, writers) * 1200, 0.7)
    const dataDir = join(home, `writers-${writers}`)
    const store = await openStore({ dataDir })
    const run = await measure(async (deadline) => {
      let done = 0
      const writer = async (n) => {
        for (let i = 0; performance.now() < deadline; i++, done++) {
          const key = keyOf(n * 1000 + (i % 500))
          await store.write([{ do: 'put', key, object: widget(i), expect: 'any' }])
        }
      }
      await Promise.all(Array.from({ length: writers }, (_, n) => writer(n)))
      return done
    })
    await store.close()
    fs.rmSync(dataDir, { recursive: true })
    const rate = Math.round(run.count / run.wall)
    const cpu = ((run.cpu / run.count) * 1e6).toFixed(0)
    const raw = `the disk alone: ${before.rate.toFixed(0)} commits/s of this size one after the other`
    console.log(
      `  ${String(writers).padStart(2)} writers  ${String(rate).padStart(6)} writes/s  ${cpu} µs CPU each  (${raw})`,
    )
  }
  console.log()
}

async function measure(body) {
  const cpu = process.cpuUsage()
  const start = performance.now()
  const count = await body(start + seconds * 1000)
  const used = process.cpuUsage(cpu)
  return { count, wall: (performance.now() - start) / 1000, cpu: (used.user + used.system) / 1e6 }
}

async function manyObjects(count) {
  const dataDir = join(home, `objects-${count}`)
  const store = await openStore({ dataDir })
  let pauseMax = 0
  let last = performance.now()
  const ticker = setInterval(() => {
    pauseMax = Math.max(pauseMax, performance.now() - last - 1)
    last = performance.now()
  }, 1)
  for (let i = 0; i < count; i += 1000) {
    const writes = Array.from({ length: Math.min(1000, count - i) }, (_, n) =>
      store.write([{ do: 'put', key: keyOf(((i + n) * 7919) % count), object: widget(i + n), expect: 'absent' }]),
    )
    await Promise.all(writes)
  }
  pauseMax = 0
  const backupStart = performance.now()
  await store.backup(join(home, 'backup'))
  const backupTime = performance.now() - backupStart
  clearInterval(ticker)
  await store.close()
  const size = fs.readdirSync(dataDir).reduce((sum, name) => sum + fs.statSync(join(dataDir, name)).size, 0)
  console.log(`${count} objects (${(size / 2 ** 20).toFixed(0)} MiB on disk)`)
  console.log(`  backup ${backupTime.toFixed(0)} ms, longest pause of the event loop in it ${pauseMax.toFixed(1)} ms`)
  // A new process for each, without warm code or used memory.
  for (const mode of ['open', 'read']) {
    const child = spawnSync(
      process.execPath,
      ['--expose-gc', new URL('./open.mjs', import.meta.url).pathname, dataDir, mode],
      {
        stdio: ['ignore', 'inherit', 'inherit'],
      },
    )
    if (child.status !== 0) process.exitCode = 1
  }
  fs.rmSync(dataDir, { recursive: true })
  console.log()
}
