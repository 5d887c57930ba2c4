/** Who makes a request. */
export interface UserInfo {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

export const MASTERS = 'system:masters'
export const AUTHENTICATED = 'system:authenticated'
export const UNAUTHENTICATED = 'system:unauthenticated'
export const ANONYMOUS = 'system:anonymous'

export const anonymous: UserInfo = { name: ANONYMOUS, groups: [UNAUTHENTICATED] }

/** Whoever proved who they are is also in system:authenticated. */
export function authenticated(user: UserInfo): UserInfo {
  if (user.name === ANONYMOUS) return user
  if (user.groups.includes(AUTHENTICATED) || user.groups.includes(UNAUTHENTICATED)) return user
  return { ...user, groups: [...user.groups, AUTHENTICATED] }
}

/** The authentication.k8s.io form of a user. */
export function userFields({ name, uid, groups, extra }: UserInfo): Record<string, unknown> {
  return {
    username: name,
    ...(uid ? { uid } : {}),
    ...(groups.length > 0 ? { groups } : {}),
    ...(extra && Object.keys(extra).length > 0 ? { extra } : {}),
  }
}

const SERVICE_ACCOUNT_PREFIX = 'system:serviceaccount:'

export function serviceAccountUser(namespace: string, name: string): string {
  return `${SERVICE_ACCOUNT_PREFIX}${namespace}:${name}`
}

export function serviceAccountGroups(namespace: string): string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
}

/** Undefined when the user is no service account. */
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
