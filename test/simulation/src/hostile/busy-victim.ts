// A server process that reports its longest uninterrupted event loop turn. Arguments: directory.
import fs from 'node:fs'
import { startServer } from '@crosstie/apiserver'
import type { Busy, Hello } from './messages.js'

const STAT = `/proc/self/task/${process.pid}/schedstat`
const hasStat = fs.existsSync(STAT)

/** Returns the CPU time of the main thread in milliseconds, or that of the process if the former is unavailable. */
function cpuMs(): number {
  if (hasStat) return Number(fs.readFileSync(STAT, 'utf8').split(' ', 1)[0]) / 1e6
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e3
}

let last = cpuMs()
let first = last
let longest = 0
setInterval(() => {
  const now = cpuMs()
  longest = Math.max(longest, now - last)
  last = now
}, 2)

const server = await startServer({ dataDir: process.argv[2]!, host: '127.0.0.1', port: 0 })
process.on('message', () => {
  setTimeout(() => {
    process.send!({ longest, total: cpuMs() - first } satisfies Busy)
    longest = 0
    first = cpuMs()
  }, 10)
})
process.send!({ access: server.adminAccess() } satisfies Hello)
process.on('disconnect', () => process.exit())
