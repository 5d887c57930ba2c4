import type { Authenticator } from '../access/authenticate.js'
import type { Authorizer } from '../access/authorize.js'
import { impersonate } from '../access/impersonate.js'
import type { UserInfo } from '../access/user.js'
import type { Exchange } from '../transport/exchange.js'

/** Returns the user of a request: from its certificate, token or Impersonate headers. */
export function identify(
  authenticator: Authenticator,
  authorizer: Authorizer,
  exchange: Exchange,
  warnings: string[],
): UserInfo {
  const { headers, socket, url } = exchange
  const user = authenticator.authenticate(headers.authorization, socket, warnings)
  for (const name in headers) {
    if (name.startsWith('impersonate-')) return impersonate(user, rawHeaders(exchange), url, authorizer)
  }
  return user
}

function rawHeaders({ headers }: Exchange): string[] {
  const raw: string[] = []
  for (const [name, value] of Object.entries(headers)) {
    if (!name.startsWith('impersonate-') || value === undefined) continue
    for (const one of Array.isArray(value) ? value : splitGroups(name, value)) raw.push(name, one)
  }
  return raw
}

// Node joins repeated headers with a comma. Each header holds one group name.
function splitGroups(name: string, value: string): string[] {
  return name === 'impersonate-group' || name.startsWith('impersonate-extra-') ? value.split(', ') : [value]
}
