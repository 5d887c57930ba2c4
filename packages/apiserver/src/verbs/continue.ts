import { badRequest, isObject, messageOf, type StatusError } from '@crosstie/kube'
import { decodeJson } from '../wire/json.js'

/** The revision of a token that continues at the newest revision. */
export const INCONSISTENT = -1

/** Returns a token that continues after the key, at the revision. */
export function continueAfter(prefix: string, key: string, revision: number): string {
  const token = { v: 'meta.k8s.io/v1', rv: revision, start: `${key.slice(prefix.length)}\u0000` }
  return Buffer.from(JSON.stringify(token)).toString('base64url')
}

/** Reads a continue token. Throws 400 when it is not valid. */
export function decodeContinue(prefix: string, token: string): { revision: number; after: string } {
  const { v, rv, start } = parsed(token)
  const version = typeof v === 'string' ? v : ''
  if (version !== 'meta.k8s.io/v1') throw bad(`server does not recognize this encoded version ${version}`)
  if (typeof rv !== 'number' || !Number.isInteger(rv) || rv === 0) {
    throw bad('incorrect encoded start resourceVersion (version meta.k8s.io/v1)')
  }
  if (typeof start !== 'string' || start === '') throw bad('encoded start key empty (version meta.k8s.io/v1)')
  const key = start.endsWith('\u0000') ? start.slice(0, -1) : start
  if (key.split('/').some((part) => part === '..' || part === '.' || part === '')) throw bad(start)
  return { revision: rv, after: prefix + key }
}

function bad(why: string): StatusError {
  return badRequest(`invalid continue token: continue key is not valid: ${why}`)
}

function parsed(token: string): { v?: unknown; rv?: unknown; start?: unknown } {
  try {
    const { value } = decodeJson(Buffer.from(token, 'base64url'))
    return isObject(value) ? value : {}
  } catch (error) {
    throw bad(messageOf(error))
  }
}
