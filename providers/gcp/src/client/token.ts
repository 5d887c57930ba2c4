import { isObject, messageOf } from '@crosstie/kube'
import { GoogleError } from './errors.js'

export interface Token {
  readonly value: string
  /** In milliseconds since 1970. */
  readonly expires: number
}

const REQUEST_MS = 20_000

/** The text at a field of a credentials file. */
export function textOf(values: Readonly<Record<string, unknown>>, field: string): string | undefined {
  const value = values[field]
  return typeof value === 'string' ? value : undefined
}

/**
 * Requests an access token. With a bearer token the body is JSON, without one a form. Errors repeat the words of Google, and
 * nothing of the request.
 */
export async function requestToken(
  url: string,
  body: Readonly<Record<string, unknown>>,
  whose: string,
  signal: AbortSignal,
  bearer?: string,
): Promise<Token> {
  const json = bearer !== undefined
  const answer = await send(url, whose, {
    method: 'POST',
    headers: {
      'content-type': json ? 'application/json' : 'application/x-www-form-urlencoded',
      ...(json ? { authorization: `Bearer ${bearer}` } : {}),
    },
    body: json ? JSON.stringify(body) : formOf(body),
    signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]),
  })
  const token = tokenIn(answer)
  if (token) return token
  throw new GoogleError(
    `the response of ${new URL(url).host} for ${whose} holds no access token`,
    'credentials',
    'no token',
  )
}

/** A GET or POST that must succeed, as JSON. */
export async function send(url: string, whose: string, init: RequestInit): Promise<Readonly<Record<string, unknown>>> {
  const { host } = new URL(url)
  const response = await fetch(url, init).catch((error: unknown) => {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    throw new GoogleError(
      `${host} cannot be reached for a token of ${whose}: ${messageOf(cause)}`,
      'unreachable',
      'token',
    )
  })
  const text = await response.text()
  const answer = parsed(text)
  if (response.ok) return answer
  const said = answer['error_description'] ?? errorMessage(answer['error']) ?? answer['error'] ?? response.status
  throw new GoogleError(
    `${host} refuses a token for ${whose}: ${String(said)}. Check the credentials that the ProviderConfig names`,
    'credentials',
    String(response.status),
  )
}

function formOf(values: Readonly<Record<string, unknown>>): string {
  return new URLSearchParams(
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)])),
  ).toString()
}

function errorMessage(error: unknown): unknown {
  return isObject(error) ? error['message'] : undefined
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

/** OAuth names the fields `access_token` and `expires_in`, IAM `accessToken` and `expireTime`. */
export function tokenIn(answer: Readonly<Record<string, unknown>>): Token | undefined {
  const value = textOf(answer, 'access_token') ?? textOf(answer, 'accessToken')
  if (value === undefined) return undefined
  const until = textOf(answer, 'expireTime')
  const seconds = Number(answer['expires_in'] ?? 3600)
  return { value, expires: until === undefined ? Date.now() + seconds * 1000 : Date.parse(until) }
}

const BEFORE_EXPIRY_MS = 5 * 60_000

/** One token for all requests, renewed before it expires. Callers that wait at the same time share one request. */
export function remembered(
  source: (signal: AbortSignal) => Promise<Token | undefined>,
): (signal: AbortSignal) => Promise<string | undefined> {
  let held: Promise<Token | undefined> | undefined
  return async (signal) => {
    const known = held
    const token = await known
    if (known && (token === undefined || token.expires - BEFORE_EXPIRY_MS > Date.now())) return token?.value
    if (held === known) {
      const requested = source(signal)
      held = requested
      requested.catch(() => {
        if (held === requested) held = undefined
      })
    }
    return (await held)?.value
  }
}
