import { readdirSync, readFileSync } from 'node:fs'

/** The number of descriptors that the store and outgoing connections need besides the open ones. */
const RESERVE_MIN = 64
const RESERVE_MAX = 1_024
const CONNECTIONS_MIN = 8
const CONNECTIONS_MAX = 10_000

/**
 * Returns the number of client connections that leaves enough file descriptors for the store, so that clients
 * cannot make a write fail with EMFILE. When the limit is unknown, only the fixed maximum applies.
 */
export function connectionsAllowed(limit = descriptorLimit(), open = openDescriptors()): number {
  if (limit === undefined) return CONNECTIONS_MAX
  const reserve = Math.min(Math.max(RESERVE_MIN, Math.floor(limit / 4)), RESERVE_MAX)
  return Math.min(Math.max(limit - open - reserve, CONNECTIONS_MIN), CONNECTIONS_MAX)
}

/** The soft limit of this process. Node raises it to the hard limit when it starts. */
function descriptorLimit(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === undefined ? undefined : Number(soft)
  } catch {
    return undefined // Only Linux has the file.
  }
}

function openDescriptors(): number {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return 0
  }
}
