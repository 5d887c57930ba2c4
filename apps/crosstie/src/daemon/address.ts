import { UsageError } from '../options/options.js'

export interface Address {
  readonly host: string
  readonly port: number
}

/** `127.0.0.1:6443`, `[::1]:0`, `:6443`. */
export function parseAddress(text: string, option = '--listen'): Address {
  const parts = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text)
  const port = Number(parts?.[3])
  if (!parts || port > 65_535) {
    throw new UsageError(`${option} takes HOST:PORT, such as 127.0.0.1:6443 or [::1]:0, not '${text}'`)
  }
  return { host: parts[1] ?? (parts[2] || '127.0.0.1'), port }
}
