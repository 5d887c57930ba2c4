import { append, type FieldError, fieldErrors } from '@crosstie/kube'
import { dnsSubdomainErrors, pathSegmentErrors, qualifiedName } from './names.js'

/** The place of an expression. It determines the expected type. */
export type ExpressionUse = 'matchCondition' | 'validation' | 'message' | 'auditAnnotation' | 'variable'

/** The variables that an expression may use. */
export interface ExpressionScope {
  readonly params: boolean
  readonly authorizer: boolean
  /** Variables that are declared before the expression. */
  readonly variables: readonly { readonly name: string; readonly expression: string }[]
}

/** Compiles an expression. Returns the error, or undefined when it is valid. */
export type ExpressionCheck = (expression: string, use: ExpressionUse, scope: ExpressionScope) => string | undefined

/** A rule of a webhook or policy. */
export interface RuleWithOperations {
  readonly operations?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly apiVersions?: readonly string[]
  readonly resources?: readonly string[]
  readonly scope?: string
  readonly resourceNames?: readonly string[]
}

/** A match condition of a webhook or policy. */
export interface MatchCondition {
  readonly name: string
  readonly expression: string
}

const operationNames = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
const scopeNames = ['*', 'Cluster', 'Namespaced']

/** Returns an error unless the value is one of the words. Undefined is accepted. */
export function oneOf(value: string | undefined, words: readonly string[], field: string): FieldError[] {
  return value === undefined || words.includes(value) ? [] : [fieldErrors.notSupported(field, value, words)]
}

/** Validates a rule of a webhook. */
export function ruleErrors(rule: RuleWithOperations, field: string): FieldError[] {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [], scope } = rule
  return [
    ...listErrors(operations, `${field}.operations`, 'operations'),
    ...operations.flatMap((operation, i) => oneOf(operation, operationNames, `${field}.operations[${i}]`)),
    ...listErrors(apiGroups, `${field}.apiGroups`, 'API groups'),
    ...listErrors(apiVersions, `${field}.apiVersions`, 'API versions'),
    ...apiVersions.flatMap((name, i) => (name === '' ? [fieldErrors.required(`${field}.apiVersions[${i}]`)] : [])),
    ...resourceErrors(resources, `${field}.resources`),
    ...oneOf(scope, scopeNames, `${field}.scope`),
  ]
}

function listErrors(list: readonly string[], field: string, what: string): FieldError[] {
  if (list.length === 0) return [fieldErrors.required(field)]
  if (list.length === 1 || !list.includes('*')) return []
  return [fieldErrors.invalid(field, list, `if '*' is present, must not specify other ${what}`)]
}

function resourceErrors(resources: readonly string[], field: string): FieldError[] {
  const errors: FieldError[] = resources.length === 0 ? [fieldErrors.required(field)] : []
  const anySubresourceOf = new Set<string>()
  const subresourceOfAny = new Set<string>()
  let lastPlain = false
  resources.forEach((resource, i) => {
    if (resource === '') {
      errors.push(fieldErrors.required(`${field}[${i}]`))
      return
    }
    const slash = resource.indexOf('/')
    if (slash < 0) {
      lastPlain = resource !== '*'
      return
    }
    const [name, sub] = [resource.slice(0, slash), resource.slice(slash + 1)]
    const covered = (by: string) =>
      errors.push(
        fieldErrors.invalid(`${field}[${i}]`, resource, `if '${by}' is present, must not specify ${resource}`),
      )
    if (anySubresourceOf.has(name)) covered(`${name}/*`)
    if (subresourceOfAny.has(sub)) covered(`*/${sub}`)
    if (sub === '*') anySubresourceOf.add(name)
    if (name === '*') subresourceOfAny.add(sub)
  })
  if (resources.length > 1 && resources.includes('*/*')) {
    errors.push(fieldErrors.invalid(field, resources, "if '*/*' is present, must not specify other resources"))
  }
  if (resources.includes('*') && lastPlain) {
    const words = "if '*' is present, must not specify other resources without subresources"
    errors.push(fieldErrors.invalid(field, resources, words))
  }
  return errors
}

/** Validates a rule of a policy, which may have resource names. */
export function namedRuleErrors(rule: RuleWithOperations, field: string): FieldError[] {
  const seen = new Set<string>()
  const errors = (rule.resourceNames ?? []).flatMap((name, i) => {
    const at = `${field}.resourceNames[${i}]`
    const found = pathSegmentErrors(name).map((message) => fieldErrors.invalid(at, name, message))
    if (seen.has(name)) found.push(fieldErrors.duplicate(at, name))
    seen.add(name)
    return found
  })
  return [...errors, ...ruleErrors(rule, field)]
}

const CONDITIONS_MAX = 64

/** Validates match conditions. */
export function matchConditionErrors(
  conditions: readonly MatchCondition[],
  field: string,
  params: boolean,
  check: ExpressionCheck,
): FieldError[] {
  const errors: FieldError[] = []
  if (conditions.length > CONDITIONS_MAX) errors.push(fieldErrors.tooMany(field, conditions.length, CONDITIONS_MAX))
  const seen = new Set<string>()
  conditions.forEach(({ name, expression }, i) => {
    const at = `${field}[${i}]`
    const scope = { params, authorizer: true, variables: [] }
    append(errors, expressionErrors(expression.trim(), 'matchCondition', scope, `${at}.expression`, check, ''))
    if (name === '') errors.push(fieldErrors.required(`${at}.name`))
    else append(errors, qualifiedName(name, `${at}.name`))
    if (name !== '' && seen.has(name)) errors.push(fieldErrors.duplicate(`${at}.name`, name))
    seen.add(name)
  })
  return errors
}

/** Validates that an expression is present and compiles. */
export function expressionErrors(
  expression: string,
  use: ExpressionUse,
  scope: ExpressionScope,
  field: string,
  check: ExpressionCheck,
  whenMissing: string,
): FieldError[] {
  if (expression.trim() === '') return [fieldErrors.required(field, whenMissing)]
  const fault = check(expression, use, scope)
  return fault === undefined ? [] : [fieldErrors.invalid(field, expression, fault)]
}

/** A reference to a Service in a webhook configuration. */
export interface ServiceReference {
  readonly name: string
  readonly namespace: string
  readonly path?: string
  readonly port?: number
}

/** The address of a webhook. */
export interface ClientConfig {
  readonly url?: string
  readonly service?: ServiceReference
}

/** Validates the address of a webhook. */
export function clientConfigErrors({ url, service }: ClientConfig, field: string): FieldError[] {
  if ((url === undefined) === (service === undefined)) {
    return [fieldErrors.required(field, 'exactly one of url or service is required')]
  }
  return url === undefined ? serviceErrors(service!, `${field}.service`) : urlErrors(url, `${field}.url`)
}

const URL_FORM = '; desired format: https://host[/path]'

function urlErrors(text: string, field: string): FieldError[] {
  const parts = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/.exec(text)
  if (!parts || /\p{Cc}/u.test(text)) return [unparsable(text, field, 'net/url: invalid control character in URL')]
  if (parts[2]?.includes(' ')) return [unparsable(text, field, 'invalid character " " in host name')]
  const [, scheme = '', authority = '', , query = '', fragment = ''] = parts
  const at = authority.lastIndexOf('@')
  const errors: FieldError[] = []
  if (scheme.toLowerCase() !== 'https') {
    errors.push(fieldErrors.invalid(field, scheme.toLowerCase(), `'https' is the only allowed URL scheme${URL_FORM}`))
  }
  if (authority.slice(at + 1) === '') errors.push(fieldErrors.invalid(field, '', `host must be specified${URL_FORM}`))
  if (at >= 0) {
    errors.push(fieldErrors.invalid(field, authority.slice(0, at), 'user information is not permitted in the URL'))
  }
  if (fragment !== '') errors.push(fieldErrors.invalid(field, fragment, 'fragments are not permitted in the URL'))
  if (query !== '') errors.push(fieldErrors.invalid(field, query, 'query parameters are not permitted in the URL'))
  return errors
}

function unparsable(text: string, field: string, why: string): FieldError {
  return fieldErrors.required(field, `url must be a valid URL: parse ${JSON.stringify(text)}: ${why}${URL_FORM}`)
}

function serviceErrors({ name, namespace, path, port = 443 }: ServiceReference, field: string): FieldError[] {
  const errors: FieldError[] = []
  // kube-apiserver swaps the two field names.
  if (namespace === '') errors.push(fieldErrors.required(`${field}.name`))
  if (name === '') errors.push(fieldErrors.required(`${field}.namespace`))
  if (port < 1 || port > 65535) {
    const words = 'port is not valid: must be between 1 and 65535, inclusive'
    errors.push(fieldErrors.invalid(`${field}.port`, port, words))
  }
  return path === undefined ? errors : [...errors, ...pathErrors(path, `${field}.path`)]
}

function pathErrors(path: string, field: string): FieldError[] {
  if (path === '/' || path === '') return []
  const invalid = (words: string) => fieldErrors.invalid(field, path, words)
  if (path === '//') return [invalid('segment[0] may not be empty')]
  const errors = path.startsWith('/') ? [] : [invalid("must start with a '/'")]
  const segments = path.slice(1).replace(/\/$/, '').split('/')
  segments.forEach((segment, i) => {
    if (segment === '') errors.push(invalid(`segment[${i}] may not be empty`))
    else for (const message of dnsSubdomainErrors(segment)) errors.push(invalid(`segment[${i}]: ${message}`))
  })
  return errors
}
