import { badRequest } from '@crosstie/kube'

/** Stands for "go on from here at whatever revision is newest". */
export const INCONSISTENT = -1

/** A token to go on after the key, at the revision. */
export function continueAfter(prefix: string, key: string, revision: number): string {
  const token = { v: 'meta.k8s.io/v1', rv: revision, start: `${key.slice(prefix.length)}\u0000` }
  return Buffer.from(JSON.stringify(token)).toString('base64url')
}

export function decodeContinue(prefix: string, token: string): { revision: number; after: string } {
  const { v, rv, start } = parsed(token)
  if (v !== 'meta.k8s.io/v1')
    throw badRequest('continue key is not valid: server does not recognize this encoded version')
  if (!Number.isInteger(rv) || rv === 0)
    throw badRequest('continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)')
  if (typeof start !== 'string' || start === '')
    throw badRequest('continue key is not valid: encoded start key empty (version meta.k8s.io/v1)')
  const key = start.endsWith('\u0000') ? start.slice(0, -1) : start
  if (key.split('/').some((part) => part === '..' || part === '.'))
    throw badRequest('continue key is not valid: ' + start)
  return { revision: rv as number, after: prefix + key }
}

function parsed(token: string): { v?: unknown; rv?: unknown; start?: unknown } {
  try {
    const value: unknown = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'))
    if (typeof value === 'object' && value !== null) return value
  } catch {
    // Told below, like any other thing that is not a token of ours.
  }
  throw badRequest('continue key is not valid: it was not made by this server')
}
