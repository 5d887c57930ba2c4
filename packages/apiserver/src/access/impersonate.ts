import { StatusError, setOwn } from '@crosstie/kube'
import { type Attributes, type Authorizer, forbiddenError } from './authorize.js'
import {
  ANONYMOUS,
  AUTHENTICATED,
  parseServiceAccountUser,
  serviceAccountGroups,
  UNAUTHENTICATED,
  type UserInfo,
} from './user.js'

interface Requested {
  user: string
  uid: string
  readonly groups: string[]
  readonly extra: Map<string, string[]>
}

const EXTRA_PREFIX = 'impersonate-extra-'
const AUTHENTICATION_GROUP = 'authentication.k8s.io'

/** A refusal before authentication. kube-apiserver answers it in plain text. */
export class MisplacedImpersonation extends StatusError {}

/**
 * Returns the user that a request acts as: the authenticated user, or the user named by Impersonate headers when
 * the authenticated user may impersonate every part of it. `rawHeaders` has the form of Node's `rawHeaders`. Throws
 * 403 otherwise.
 */
export function impersonate(
  user: UserInfo,
  rawHeaders: readonly string[],
  url: string,
  authorizer: Authorizer,
): UserInfo {
  const requested = requestedIdentity(rawHeaders)
  if (!requested) return user
  if (requested.user === '') throw withoutUser(requested, url)

  const check = (what: Omit<Attributes, 'user' | 'verb'>) => {
    const attributes = { ...what, user, verb: 'impersonate' }
    const { allowed, reason } = authorizer.authorize(attributes)
    if (!allowed) throw forbiddenError(attributes, reason)
  }
  const account = parseServiceAccountUser(requested.user)
  if (account) check({ group: '', resource: 'serviceaccounts', namespace: account.namespace, name: account.name })
  else check({ group: '', resource: 'users', name: requested.user })
  for (const group of requested.groups) check({ group: '', resource: 'groups', name: group })
  for (const [key, values] of requested.extra) {
    for (const value of values) {
      check({ group: AUTHENTICATION_GROUP, resource: 'userextras', subresource: key, name: value })
    }
  }
  if (requested.uid !== '') check({ group: AUTHENTICATION_GROUP, resource: 'uids', name: requested.uid })

  const acting = impersonated(requested, account ? serviceAccountGroups(account.namespace) : [])
  impersonators.set(acting, user)
  return acting
}

const impersonators = new WeakMap<UserInfo, UserInfo>()

/** Returns the user who impersonates this user. Undefined without impersonation. */
export function impersonatorOf(user: UserInfo): UserInfo | undefined {
  return impersonators.get(user)
}

function impersonated({ user, uid, groups, extra }: Requested, ownGroups: readonly string[]): UserInfo {
  const named = groups.length > 0 ? [...groups] : [...ownGroups]
  if (user === ANONYMOUS) {
    if (!named.includes(UNAUTHENTICATED)) named.push(UNAUTHENTICATED)
  } else if (!named.includes(AUTHENTICATED) && !named.includes(UNAUTHENTICATED)) {
    named.push(AUTHENTICATED)
  }
  const extras: Record<string, readonly string[]> = {}
  for (const [key, values] of extra) setOwn(extras, key, values)
  return { name: user, groups: named, ...(uid === '' ? {} : { uid }), ...(extra.size > 0 ? { extra: extras } : {}) }
}

/**
 * Returns the identity in the Impersonate headers. Undefined without such headers, after a comparison of header
 * names only.
 */
function requestedIdentity(rawHeaders: readonly string[]): Requested | undefined {
  let requested: Requested | undefined
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const raw = rawHeaders[i]!
    const first = raw.charCodeAt(0) | 0x20
    if (first !== 0x69 || raw.length < 15) continue
    const name = raw.toLowerCase()
    if (!name.startsWith('impersonate-')) continue
    requested ??= { user: '', uid: '', groups: [], extra: new Map() }
    addHeader(requested, name, rawHeaders[i + 1]!)
  }
  if (requested && requested.user === '' && requested.uid === '') {
    if (requested.groups.length === 0 && requested.extra.size === 0) return undefined
  }
  return requested
}

function addHeader(requested: Requested, name: string, value: string): void {
  if (name === 'impersonate-user') requested.user ||= value
  else if (name === 'impersonate-uid') requested.uid ||= value
  else if (name === 'impersonate-group') requested.groups.push(value)
  else if (name.startsWith(EXTRA_PREFIX)) {
    const key = unescaped(name.slice(EXTRA_PREFIX.length))
    const values = requested.extra.get(key)
    if (values) values.push(value)
    else requested.extra.set(key, [value])
  }
}

function unescaped(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

function withoutUser({ groups, extra, uid }: Requested, url: string): StatusError {
  const version = `${AUTHENTICATION_GROUP}/v1`
  const parts = [
    ...groups.map((group) => `{Group  ${group}    }`),
    ...[...extra].flatMap(([key, values]) => values.map((value) => `{UserExtra  ${value}  ${version}  ${key}}`)),
    ...(uid === '' ? [] : [`{UID  ${uid}  ${version}  }`]),
  ]
  const why = `requested [${parts.join(' ')}] without impersonating a user`
  const shown = JSON.stringify(url.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;'))
  return new MisplacedImpersonation(500, 'InternalError', `Internal Server Error: ${shown}: ${why}`)
}
