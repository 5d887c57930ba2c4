import { isDNS1123Subdomain, quote } from '@crosstie/cel/kubernetes'
import { append } from '../../arrays.js'
import { type FieldError, fieldErrors } from '../../errors.js'
import type { WebhookClientConfig } from './types.js'

const { required, invalid } = fieldErrors
const form = '; desired format: https://host[/path]'

/** Validates the address of a webhook: either a URL or a service. */
export function clientConfigErrors(
  config: WebhookClientConfig,
  path: string,
  caBundleError?: (caBundle: string) => string | undefined,
): FieldError[] {
  const { url, service, caBundle = '' } = config
  const errors: FieldError[] = []
  if ((url === undefined) === (service === undefined)) {
    errors.push(required(path, 'exactly one of url or service is required'))
  } else if (url !== undefined) append(errors, urlErrors(url, `${path}.url`))
  else append(errors, serviceErrors(service!, `${path}.service`))
  const problem = caBundle === '' ? undefined : caBundleError?.(caBundle)
  if (problem !== undefined) errors.push(invalid(`${path}.caBundle`, caBundle, problem))
  return errors
}

function urlErrors(url: string, path: string): FieldError[] {
  const problem = unparsable(url)
  if (problem) return [required(path, `url must be a valid URL: parse ${quote(url)}: ${problem}${form}`)]
  const match = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/s.exec(url)!
  const [, scheme = '', authority = '', query = '', fragment = ''] = match
  const at = authority.lastIndexOf('@')
  const errors: FieldError[] = []
  if (scheme.toLowerCase() !== 'https') {
    errors.push(invalid(path, scheme.toLowerCase(), `'https' is the only allowed URL scheme${form}`))
  }
  if (authority.slice(at + 1) === '') errors.push(invalid(path, '', `host must be specified${form}`))
  if (at >= 0) {
    errors.push(invalid(path, authority.slice(0, at), 'user information is not permitted in the URL'))
  }
  if (fragment !== '') errors.push(invalid(path, fragment, 'fragments are not permitted in the URL'))
  if (query !== '') errors.push(invalid(path, query, 'query parameters are not permitted in the URL'))
  return errors
}

function unparsable(url: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are rejected.
  if (/[\x00-\x1f\x7f]/.test(url)) return 'net/url: invalid control character in URL'
  if (url.startsWith(':')) return 'missing protocol scheme'
  const badEscape = /%(?![0-9a-fA-F]{2}).{0,2}/s.exec(url.split('?')[0]!)
  if (badEscape) return `invalid URL escape ${quote(badEscape[0])}`
  if (!/^[a-zA-Z][a-zA-Z0-9+.-]*:|^\//.test(url) && /^[^/?#]*:/.test(url)) {
    return 'first path segment in URL cannot contain colon'
  }
  const authority = /^(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?\/\/([^/?#]*)/.exec(url)?.[1] ?? ''
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  const bad = /[ "<>\\^`{|}]/.exec(host)?.[0]
  if (bad && bad !== '"' && bad !== '<' && bad !== '>') return `invalid character ${quote(bad)} in host name`
  const port = host.startsWith('[') ? host.slice(host.lastIndexOf(']') + 1) : /:.*$/s.exec(host)?.[0]
  return port && !/^:\d*$/.test(port) ? `invalid port ${quote(port)} after host` : undefined
}

function serviceErrors(service: NonNullable<WebhookClientConfig['service']>, path: string): FieldError[] {
  const { name = '', namespace = '', port = 0, path: urlPath = '' } = service
  const errors: FieldError[] = []
  // kube-apiserver confuses the two fields here and reports the one that is present.
  if (namespace === '') errors.push(required(`${path}.name`))
  if (name === '') errors.push(required(`${path}.namespace`))
  if (port < 1 || port > 65535) {
    errors.push(invalid(`${path}.port`, port, 'port is not valid: must be between 1 and 65535, inclusive'))
  }
  return [...errors, ...servicePathErrors(urlPath, `${path}.path`)]
}

function servicePathErrors(urlPath: string, path: string): FieldError[] {
  if (urlPath === '' || urlPath === '/') return []
  if (urlPath === '//') return [invalid(path, urlPath, 'segment[0] may not be empty')]
  const errors = urlPath.startsWith('/') ? [] : [invalid(path, urlPath, "must start with a '/'")]
  const segments = urlPath.slice(1).replace(/\/$/, '').split('/')
  segments.forEach((segment, i) => {
    const problems = segment === '' ? [`segment[${i}] may not be empty`] : undefined
    for (const problem of problems ?? isDNS1123Subdomain(segment).map((text) => `segment[${i}]: ${text}`)) {
      errors.push(invalid(path, urlPath, problem))
    }
  })
  return errors
}
