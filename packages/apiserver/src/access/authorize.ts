import { type StatusDetails, StatusError } from '@crosstie/kube'
import type { UserInfo } from './user.js'

/** What somebody wants to do: with a resource, or (when `path` is set) with a path that is none. */
export interface Attributes {
  readonly user: UserInfo
  readonly verb: string
  readonly group?: string
  readonly resource?: string
  readonly subresource?: string
  readonly name?: string
  readonly namespace?: string
  readonly path?: string
}

export interface Decision {
  readonly allowed: boolean
  /** Why it is allowed, or what went wrong while finding out. Often empty for a refusal. */
  readonly reason: string
}

export interface Authorizer {
  authorize(attributes: Attributes): Decision
}

/** Told apart from what admission forbids: the real server answers it elsewhere, with one header more. */
export class AccessDeniedError extends StatusError {}

/** 403 in the words that kubectl's users know. */
export function forbiddenError(attributes: Attributes, reason: string): AccessDeniedError {
  const what = sanitized(describe(attributes))
  const why = reason === '' ? what : `${what}: ${reason}`
  const { group = '', resource = '', name = '' } = attributes
  const qualified = group === '' ? resource : `${resource}.${group}`
  const details: StatusDetails = {
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { group }),
    ...(resource === '' ? {} : { kind: resource }),
  }
  const subject = name !== '' ? `${qualified} "${name}" is forbidden` : `${qualified} is forbidden`
  const message = `${qualified === '' && name === '' ? 'forbidden' : subject}: ${why}`
  return new AccessDeniedError(403, 'Forbidden', message, { details })
}

function describe({
  user,
  verb,
  group = '',
  resource = '',
  subresource = '',
  namespace = '',
  path,
}: Attributes): string {
  const who = `User ${JSON.stringify(user.name)} cannot ${verb}`
  if (path !== undefined) return `${who} path ${JSON.stringify(path)}`
  const what = JSON.stringify(subresource === '' ? resource : `${resource}/${subresource}`)
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`
  return `${who} resource ${what} in API group ${JSON.stringify(group)} ${where}`
}

/** Answers must not look like HTML to a browser that shows them. */
function sanitized(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
