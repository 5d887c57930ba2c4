import {
  isObject,
  type KubeObject,
  type LabelSelector,
  notFound,
  type ResourceType,
  type Selector,
  selectorOf,
} from '@crosstie/kube'
import type { Store } from '../../store/store.js'
import { type AdmissionAttributes, admissionNamespace, type Kinds, type Operation } from './attributes.js'

/** The requests that a rule of a webhook or policy matches. */
export interface Rule {
  readonly operations: readonly string[]
  readonly apiGroups: readonly string[]
  readonly apiVersions: readonly string[]
  readonly resources: readonly string[]
  readonly scope?: string
  /** Policies only. Empty matches any name. */
  readonly resourceNames?: readonly string[]
}

/** The match criteria of a webhook, policy or binding. */
export interface Matcher {
  /** Rules that exclude requests. Policies only. */
  readonly excluded: readonly Rule[]
  readonly rules: readonly Rule[]
  readonly equivalent: boolean
  readonly namespaces: Selector
  readonly objects: Selector
}

/** Reads the match fields that webhooks and policies share. */
export function matcherOf(fields: Readonly<Record<string, unknown>>): Matcher {
  return {
    excluded: rulesIn(fields['excludeResourceRules']),
    rules: rulesIn(fields['rules'] ?? fields['resourceRules']),
    equivalent: fields['matchPolicy'] !== 'Exact',
    namespaces: selectorIn(fields['namespaceSelector']),
    objects: selectorIn(fields['objectSelector']),
  }
}

// An absent selector selects everything here. Elsewhere it selects nothing.
const selectorIn = (value: unknown): Selector => selectorOf(isObject(value) ? (value as LabelSelector) : {})

function rulesIn(value: unknown): Rule[] {
  if (!Array.isArray(value)) return []
  return value.filter(isObject).map((rule) => ({
    operations: textsIn(rule['operations']),
    apiGroups: textsIn(rule['apiGroups']),
    apiVersions: textsIn(rule['apiVersions']),
    resources: textsIn(rule['resources']),
    resourceNames: textsIn(rule['resourceNames']),
    ...(typeof rule['scope'] === 'string' ? { scope: rule['scope'] } : {}),
  }))
}

const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []

/**
 * Returns the address under which the request matches: its own or, with matchPolicy Equivalent, another one of the
 * same object, to which it must be converted. Undefined without a match. Throws 404 when a selector needs the
 * labels of a namespace that does not exist.
 */
export function matchOf(
  matcher: Matcher,
  attributes: AdmissionAttributes,
  kinds: Kinds,
  objects: Pick<Store, 'get'>,
): ResourceType | undefined {
  // Rules are cheap and exclude most requests, so they come first.
  if (addressOf(matcher.excluded, matcher.equivalent, attributes, kinds)) return undefined
  const address = addressOf(matcher.rules, matcher.equivalent, attributes, kinds)
  if (!address || !objectMatches(matcher.objects, attributes)) return undefined
  return namespaceMatches(matcher.namespaces, attributes, objects) ? address : undefined
}

function addressOf(
  rules: readonly Rule[],
  equivalent: boolean,
  attributes: AdmissionAttributes,
  kinds: Kinds,
): ResourceType | undefined {
  if (rules.length === 0) return undefined
  if (rules.some((rule) => ruleMatches(rule, attributes, attributes.type))) return attributes.type
  if (!equivalent) return undefined
  for (const rule of rules) {
    if (!rule.operations.includes('*') && !rule.operations.includes(attributes.operation)) continue
    for (const other of kinds.equivalents(attributes.type)) if (ruleMatches(rule, attributes, other)) return other
  }
  return undefined
}

function ruleMatches(rule: Rule, attributes: AdmissionAttributes, type: ResourceType): boolean {
  const { operation, subresource, name } = attributes
  return (
    has<Operation>(rule.operations, operation) &&
    has(rule.apiGroups, type.group) &&
    has(rule.apiVersions, type.version) &&
    rule.resources.some((resource) => resourceMatches(resource, type.resource, subresource)) &&
    scopeMatches(rule.scope, type) &&
    (!rule.resourceNames?.length || rule.resourceNames.includes(name))
  )
}

const has = <T extends string>(list: readonly string[], value: T): boolean => list.includes('*') || list.includes(value)

function resourceMatches(pattern: string, resource: string, subresource: string): boolean {
  const slash = pattern.indexOf('/')
  const wanted = slash < 0 ? pattern : pattern.slice(0, slash)
  const wantedSub = slash < 0 ? '' : pattern.slice(slash + 1)
  return (wanted === '*' || wanted === resource) && (wantedSub === '*' || wantedSub === subresource)
}

function scopeMatches(scope: string | undefined, type: ResourceType): boolean {
  if (scope === undefined || scope === '*') return true
  return type.namespaced === (scope === 'Namespaced')
}

function objectMatches(selector: Selector, { object, oldObject }: AdmissionAttributes): boolean {
  if (selector.empty) return true
  const matches = (one: KubeObject | undefined) => one !== undefined && selector.matches(one.metadata?.labels ?? {})
  return matches(object) || matches(oldObject)
}

function namespaceMatches(selector: Selector, attributes: AdmissionAttributes, objects: Pick<Store, 'get'>): boolean {
  if (selector.empty) return true
  const name = admissionNamespace(attributes)
  // A cluster-scoped object cannot be in an exempt namespace.
  if (name === '') return true
  return selector.matches(namespaceLabels(name, attributes, objects))
}

function namespaceLabels(
  name: string,
  { type, subresource, operation, object }: AdmissionAttributes,
  objects: Pick<Store, 'get'>,
): Readonly<Record<string, string>> {
  const written = operation === 'CREATE' || operation === 'UPDATE'
  if (type.group === '' && type.resource === 'namespaces' && subresource === '' && written) {
    return object?.metadata.labels ?? {}
  }
  const namespace = objects.get(`//namespaces/${name}`)?.object
  if (!namespace) throw notFound({ group: '', resource: 'namespaces' }, name)
  return namespace.metadata.labels ?? {}
}
