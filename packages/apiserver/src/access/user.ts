/** The user who sends a request. */
export interface UserInfo {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** Members of this group may do anything. */
export const MASTERS = 'system:masters'
/** The group of all authenticated users. */
export const AUTHENTICATED = 'system:authenticated'
/** The group of anonymous users. */
export const UNAUTHENTICATED = 'system:unauthenticated'
/** The name of anonymous users. */
export const ANONYMOUS = 'system:anonymous'

/** The user of requests without credentials. */
export const anonymous: UserInfo = { name: ANONYMOUS, groups: [UNAUTHENTICATED] }

/** Adds the group system:authenticated, except to the anonymous user. */
export function authenticated(user: UserInfo): UserInfo {
  if (user.name === ANONYMOUS) return user
  if (user.groups.includes(AUTHENTICATED) || user.groups.includes(UNAUTHENTICATED)) return user
  return { ...user, groups: [...user.groups, AUTHENTICATED] }
}

/** Returns the user in the form of authentication.k8s.io. */
export function userFields({ name, uid, groups, extra }: UserInfo): Record<string, unknown> {
  return {
    username: name,
    ...(uid ? { uid } : {}),
    ...(groups.length > 0 ? { groups } : {}),
    ...(extra && Object.keys(extra).length > 0 ? { extra } : {}),
  }
}

const SERVICE_ACCOUNT_PREFIX = 'system:serviceaccount:'

/** Returns the user name of a service account. */
export function serviceAccountUser(namespace: string, name: string): string {
  return `${SERVICE_ACCOUNT_PREFIX}${namespace}:${name}`
}

/** Returns the groups of the service accounts of a namespace. */
export function serviceAccountGroups(namespace: string): string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
}

/** Returns the namespace and name of a service account from its user name. Undefined for other users. */
export function parseServiceAccountUser(
  user: string,
): { readonly namespace: string; readonly name: string } | undefined {
  if (!user.startsWith(SERVICE_ACCOUNT_PREFIX)) return undefined
  const [namespace, name, ...rest] = user.slice(SERVICE_ACCOUNT_PREFIX.length).split(':')
  if (!namespace || !name || rest.length > 0 || !isDnsLabel(namespace) || !isDnsSubdomain(name)) return undefined
  return { namespace, name }
}

const isDnsLabel = (text: string): boolean => text.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text)
const isDnsSubdomain = (text: string): boolean =>
  text.length <= 253 && text.split('.').every((part) => /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(part))
