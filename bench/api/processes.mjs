import { readdirSync, readFileSync } from 'node:fs'

const TICKS_PER_SECOND = 100

/** Returns a process and its descendants by name. Linux only. */
export function processTree(pid) {
  const parents = new Map()
  const names = new Map()
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const fields = statOf(entry)
    if (!fields) continue
    parents.set(Number(entry), fields.parent)
    names.set(Number(entry), fields.name)
  }
  const below = (one) => [
    one,
    ...[...parents].filter(([, parent]) => parent === one).flatMap(([child]) => below(child)),
  ]
  return below(pid).map((one) => ({ pid: one, name: names.get(one) ?? '' }))
}

/** Returns the user and system time of the processes so far. */
export function cpuSeconds(pids) {
  return pids.reduce((total, pid) => total + (statOf(pid)?.ticks ?? 0), 0) / TICKS_PER_SECOND
}

/** Returns the resident memory of the processes in MB. */
export function residentMb(pids) {
  const kilobytes = (pid) => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  return pids.reduce((total, pid) => total + kilobytes(pid), 0) / 1024
}

function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const end = text.lastIndexOf(')')
    const name = text.slice(text.indexOf('(') + 1, end)
    const rest = text.slice(end + 2).split(' ')
    return { name, parent: Number(rest[1]), ticks: Number(rest[11]) + Number(rest[12]) }
  } catch {
    return undefined // The process ended meanwhile.
  }
}
