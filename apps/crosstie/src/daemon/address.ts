import { UsageError } from '../options/options.js'

/** A host and a port. */
export interface Address {
  readonly host: string
  readonly port: number
}

/** Parses `127.0.0.1:6443`, `[::1]:0` or `:6443`. Throws a usage error. */
export function parseAddress(text: string, option = '--listen'): Address {
  const parts = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text)
  const port = Number(parts?.[3])
  if (!parts || port > 65_535) {
    throw new UsageError(`${option} takes HOST:PORT, such as 127.0.0.1:6443 or [::1]:0, not '${text}'`)
  }
  return { host: parts[1] ?? (parts[2] || '127.0.0.1'), port }
}
