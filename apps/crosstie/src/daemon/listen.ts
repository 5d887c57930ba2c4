import { createServer } from 'node:net'
import { UsageError } from '../options/options.js'
import { type Address, parseAddress } from './address.js'

export const USUAL = '127.0.0.1:6443'

export interface Place extends Address {
  /** Somebody else has the usual port. */
  readonly moved: boolean
}

/** Where to serve: where it was asked to be, or else at the usual place, or at a free port when that is taken. */
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

/** Why nobody can listen there; undefined if we can. */
function hindranceOf({ host, port }: Address): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', resolve)
    probe.listen(port, host, () => probe.close(() => resolve(undefined)))
  })
}

const reasons: Readonly<Record<string, string>> = {
  EADDRNOTAVAIL: 'this machine has no such address; 0.0.0.0 means all that it has',
  EACCES: 'this user may not use that port; those from 1024 on are for everybody',
  ENOTFOUND: 'there is no host of that name',
}

const reasonOf = ({ code = '', message }: NodeJS.ErrnoException): string => reasons[code] ?? message
