import { AlreadyExistsError, ThrottledError, UncertainError } from '@crosstie/resources/provider'

/** Kinds of refusals that code distinguishes. */
export type Trouble = 'notFound' | 'denied' | 'credentials' | 'quota' | 'inUse' | 'busy' | 'unreachable' | 'invalid'

/** Azure refused a request, or could not be reached. The message says what was attempted and what to do next. */
export class AzureError extends Error {
  override readonly name = 'AzureError'

  constructor(
    message: string,
    readonly trouble: Trouble,
    /** The code of Azure, such as `ResourceGroupNotFound`. */
    readonly code: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

export const troubleOf = (error: unknown): Trouble | undefined =>
  error instanceof AzureError ? error.trouble : undefined

/** The result, or undefined when the resource does not exist. */
export async function unlessNotFound<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    if (troubleOf(error) === 'notFound') return undefined
    throw error
  }
}

export interface Refusal {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly retryAfter: number | undefined
  /** Such as `Microsoft.Network/virtualNetworks/write`. */
  readonly action: string
  readonly isRead: boolean
}

/** By the code of the answer; the first match wins. */
const troubles: readonly (readonly [RegExp, Trouble])[] = [
  [/^(AuthorizationFailed|LinkedAuthorizationFailed|Authorization_RequestDenied|Forbidden)/, 'denied'],
  [
    /^(AuthenticationFailed|ExpiredAuthenticationToken|InvalidAuthenticationToken|InvalidAuthenticationTokenTenant)/,
    'credentials',
  ],
  [/(NotFound|^Request_ResourceNotFound)$/, 'notFound'],
  [/(QuotaExceeded|QuotaNotAvailable|LimitReached|SkuNotAvailable|ServerCountExceeded)/i, 'quota'],
  [/(InUse\w*CannotBeDeleted|CannotDeleteResource|ReferencedResourceNotProvisioned|ScopeLocked)/, 'inUse'],
  [/(InProgress|AnotherOperation|OperationNotAllowedOnServer|ServerBusy|Conflict|BeingDeleted|RetryableError)/, 'busy'],
]

const WORDS_MAX = 600

/** The error for one answer. It has nothing of the request body. */
export function errorOf(refusal: Refusal): Error {
  const { status, code, action, isRead, retryAfter } = refusal
  const words = refusal.message.replace(/\s+/g, ' ').trim().slice(0, WORDS_MAX).replace(/\.$/, '')
  if (status === 429) {
    const message = `${action}: Azure throttles the requests of these credentials (${code}); they are repeated later`
    return new ThrottledError(message, retryAfter ? { retryAfterSeconds: retryAfter } : {})
  }
  if (status >= 500) {
    const message = `${action}: Azure could not complete the request (${status} ${code}): ${words}`
    return isRead ? new AzureError(message, 'unreachable', code) : new UncertainError(message)
  }
  if (/AlreadyExists|NameAlreadyInUse|ServerNameAlreadyExists/.test(code))
    return new AlreadyExistsError(`${action}: ${words} (${code})`)
  const trouble = troubleFor(status, code)
  return new AzureError(`${action}: ${explained(trouble, code, words, action)}`, trouble, code)
}

function troubleFor(status: number, code: string): Trouble {
  const known = troubles.find(([pattern]) => pattern.test(code))?.[1]
  if (known) return known
  if (status === 401) return 'credentials'
  if (status === 403) return 'denied'
  return status === 404 ? 'notFound' : 'invalid'
}

function explained(trouble: Trouble, code: string, words: string, action: string): string {
  switch (trouble) {
    case 'denied':
      return `Azure denies the request (${code}): ${words}. Assign a role with ${action} to the identity of the ProviderConfig; the page of the kind lists all actions`
    case 'credentials':
      return `Azure does not accept the credentials (${code}): ${words}. Check the tenant and the identity of the ProviderConfig`
    case 'quota':
      return `the subscription has reached a limit (${code}): ${words}. Delete unused resources, or request a higher quota`
    case 'inUse':
      return `the resource is in use (${code}): ${words}. Delete its users first; the request is repeated until then`
    case 'busy':
      return `another operation is in progress (${code}): ${words}. The request is repeated`
    default:
      return `${words} (${code})`
  }
}

const unreachableCodes = new Set(['ENOTFOUND', 'ECONNREFUSED', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

/** The error for a request that got no answer. */
export function lost(error: unknown, action: string, isRead: boolean): unknown {
  if (!(error instanceof Error) || error.name === 'AbortError' || error.name === 'ConfigError') return error
  const code = codeOf(error) ?? codeOf(error.cause) ?? error.name
  if (unreachableCodes.has(code)) {
    return new AzureError(
      `${action}: Azure cannot be reached (${code}). Check spec.endpoint of the ProviderConfig and the network`,
      'unreachable',
      code,
    )
  }
  const message = `${action}: the connection ended without an answer (${code})`
  return isRead ? new AzureError(message, 'unreachable', code) : new UncertainError(message)
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}
