import { createServer } from 'node:net'
import { UsageError } from '../options/options.js'
import { type Address, parseAddress } from './address.js'

/** The default address. */
export const USUAL = '127.0.0.1:6443'

/** The address to serve at. */
export interface Place extends Address {
  /** Whether the default port is in use, so that another one was chosen. */
  readonly moved: boolean
}

/** Returns the requested address, or the default one, or a free port if that is in use. Throws a usage error. */
export async function chooseAddress(asked: string | undefined): Promise<Place> {
  const address = parseAddress(asked ?? USUAL)
  const hindrance = await hindranceOf(address)
  if (!hindrance) return { ...address, moved: false }
  if (!isTakenError(hindrance)) throw new UsageError(`cannot listen on ${asked}: ${reasonOf(hindrance)}`)
  if (asked === undefined) return { ...address, port: 0, moved: true }
  throw new UsageError(`${asked} is in use by another program: --listen ${address.host}:0 takes a free port`)
}

/** Reports whether an error, or one of its causes, says that the port is in use. */
export function isTakenError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return ('code' in error && error.code === 'EADDRINUSE') || isTakenError(error.cause)
}

/** Returns the reason why listening fails, or undefined. */
function hindranceOf({ host, port }: Address): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', resolve)
    probe.listen(port, host, () => probe.close(() => resolve(undefined)))
  })
}

const reasons: Readonly<Record<string, string>> = {
  EADDRNOTAVAIL: 'this machine does not have that address; 0.0.0.0 means all addresses',
  EACCES: 'this user may not use that port; use one from 1024 on',
  ENOTFOUND: 'the host name cannot be resolved',
}

const reasonOf = ({ code = '', message }: NodeJS.ErrnoException): string => reasons[code] ?? message
