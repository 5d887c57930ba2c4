import { type StatusDetails, StatusError } from '@crosstie/kube'
import type { UserInfo } from './user.js'

/** The action to authorize: on a resource, or on a non-resource path when `path` is set. */
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

/** The answer of an Authorizer. */
export interface Decision {
  readonly allowed: boolean
  /** The reason of the decision, or an error of the evaluation. Often empty for a refusal. */
  readonly reason: string
}

/** Decides whether a user may do something. */
export interface Authorizer {
  authorize(attributes: Attributes): Decision
}

/** A refusal by the authorizer. kube-apiserver sends one header more with it than with a refusal by admission. */
export class AccessDeniedError extends StatusError {}

/** Returns the 403 of kube-apiserver. */
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

/** Escapes the text so that a browser does not read it as HTML. */
function sanitized(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
