import { createServer } from 'node:net'
import { type Address, parseAddress } from '../address.js'
import { UsageError } from '../command.js'

export const USUAL = '127.0.0.1:6443'

export interface Place extends Address {
  /** Somebody else has the usual port. */
  readonly moved: boolean
}

/** Where to serve: where it was asked to be, or else at the usual place, or at a free port when that is taken. */
export async function chooseAddress(asked: string | undefined): Promise<Place> {
  const address = parseAddress(asked ?? USUAL)
  if (!(await isTaken(address))) return { ...address, moved: false }
  if (asked === undefined) return { ...address, port: 0, moved: true }
  throw new UsageError(`${asked} is in use by another program: --listen ${address.host}:0 takes a free port`)
}

/** Also when it says what was attempted, and the port is the cause. */
export function isTakenError(error: unknown): boolean {
  return error instanceof Error && ((error as NodeJS.ErrnoException).code === 'EADDRINUSE' || isTakenError(error.cause))
}

function isTaken({ host, port }: Address): Promise<boolean> {
  if (port === 0) return Promise.resolve(false)
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', (error) => resolve(isTakenError(error)))
    probe.listen(port, host, () => probe.close(() => resolve(false)))
  })
}
