import { isObject } from '@crosstie/kube'
import type { Attributes } from './authorize.js'

/** One rule of a Role or ClusterRole. Absent lists are empty. */
export interface PolicyRule {
  readonly verbs: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

const NONE: readonly string[] = []

/** The rules of a Role or ClusterRole. */
export function rulesOf(role: Readonly<Record<string, unknown>>): readonly PolicyRule[] {
  const rules = role['rules']
  return Array.isArray(rules) ? rules.filter(isObject).map((rule) => ({ verbs: NONE, ...rule }) as PolicyRule) : []
}

/** Whether the rule allows the action. */
export function ruleAllows(rule: PolicyRule, { verb, group, resource, subresource, name, path }: Attributes): boolean {
  if (!rule.verbs.includes('*') && !rule.verbs.includes(verb)) return false
  if (path !== undefined) return (rule.nonResourceURLs ?? NONE).some((url) => urlCovers(url, path))
  const groups = rule.apiGroups ?? NONE
  if (!groups.includes('*') && !groups.includes(group ?? '')) return false
  if (!resourceAllowed(rule.resources ?? NONE, resource ?? '', subresource ?? '')) return false
  const names = rule.resourceNames ?? NONE
  return names.length === 0 || names.includes(name ?? '')
}

function resourceAllowed(allowed: readonly string[], resource: string, subresource: string): boolean {
  if (allowed.includes('*')) return true
  if (subresource === '') return allowed.includes(resource)
  return allowed.includes(`${resource}/${subresource}`) || allowed.includes(`*/${subresource}`)
}

function urlCovers(url: string, path: string): boolean {
  if (url === '*' || url === path) return true
  return url.endsWith('*') && path.startsWith(url.replace(/\*+$/, ''))
}

/** The parts of wanted rules that are compared with owned rules in one request. */
const COMPARISONS_MAX = 2_000_000

/** The rules combine to more parts than one request may compare. */
export class TooManyRulesError extends Error {
  override readonly name = 'TooManyRulesError'
}

/**
 * The smallest parts of the wanted rules that no owned rule covers. Throws a TooManyRulesError when the comparison would
 * block other requests: a rule of a few kilobytes can combine to millions of parts.
 */
export function uncovered(owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  const open = wanted.filter((rule) => !owned.some((own) => coversWhole(own, rule)))
  let parts = 0
  for (const rule of open) parts += partsOf(rule)
  if (parts * Math.max(owned.length, 1) > COMPARISONS_MAX) {
    throw new TooManyRulesError(
      `the rules combine to ${parts} permissions that must each be compared with ${owned.length} rules of the user; use fewer rules, or a smaller product of verbs, apiGroups, resources and resourceNames`,
    )
  }
  return open.flatMap(breakDown).filter((part) => !owned.some((rule) => covers(rule, part)))
}

/** The most common case without comparing parts: the owned rule has no limits at all. */
function coversWhole(owner: PolicyRule, rule: PolicyRule): boolean {
  const everything = (set: readonly string[] | undefined) => set?.includes('*') === true
  if (!everything(owner.verbs)) return false
  if ((rule.nonResourceURLs ?? NONE).length > 0) return false
  return everything(owner.apiGroups) && everything(owner.resources) && (owner.resourceNames ?? NONE).length === 0
}

function partsOf({
  apiGroups = NONE,
  resources = NONE,
  verbs,
  resourceNames = NONE,
  nonResourceURLs = NONE,
}: PolicyRule) {
  return (
    verbs.length * (apiGroups.length * resources.length * Math.max(resourceNames.length, 1) + nonResourceURLs.length)
  )
}

/** Splits a rule into single combinations, each of which one rule covers or none does. */
function breakDown(rule: PolicyRule): PolicyRule[] {
  const parts: PolicyRule[] = []
  for (const group of rule.apiGroups ?? NONE) {
    for (const resource of rule.resources ?? NONE) {
      for (const verb of rule.verbs) {
        const part = { apiGroups: [group], resources: [resource], verbs: [verb] }
        const names = rule.resourceNames ?? NONE
        if (names.length === 0) parts.push(part)
        for (const name of names) parts.push({ ...part, resourceNames: [name] })
      }
    }
  }
  for (const url of rule.nonResourceURLs ?? NONE) {
    for (const verb of rule.verbs) parts.push({ nonResourceURLs: [url], verbs: [verb] })
  }
  return parts
}

function covers(owner: PolicyRule, part: PolicyRule): boolean {
  const ownerNames = owner.resourceNames ?? NONE
  const partNames = part.resourceNames ?? NONE
  return (
    hasAll(owner.verbs, part.verbs) &&
    hasAll(owner.apiGroups ?? NONE, part.apiGroups ?? NONE) &&
    (part.resources ?? NONE).every((resource) => resourceCovered(owner.resources ?? NONE, resource)) &&
    (ownerNames.length === 0 || (partNames.length > 0 && partNames.every((name) => ownerNames.includes(name)))) &&
    (part.nonResourceURLs ?? NONE).every((url) => (owner.nonResourceURLs ?? NONE).some((own) => urlCovers(own, url)))
  )
}

function hasAll(set: readonly string[], items: readonly string[]): boolean {
  return set.includes('*') || items.every((item) => set.includes(item))
}

function resourceCovered(owned: readonly string[], resource: string): boolean {
  if (owned.includes('*') || owned.includes(resource)) return true
  const slash = resource.indexOf('/')
  return slash >= 0 && owned.includes(`*${resource.slice(slash)}`)
}

/** Merges rules that differ only in their verbs, for readable messages. */
export function compactRules(rules: readonly PolicyRule[]): PolicyRule[] {
  const others: PolicyRule[] = []
  const simple = new Map<string, PolicyRule>()
  for (const rule of rules) {
    const { apiGroups = NONE, resources = NONE, resourceNames = NONE, nonResourceURLs = NONE } = rule
    if (resourceNames.length > 1 || nonResourceURLs.length > 0 || apiGroups.length !== 1 || resources.length !== 1) {
      others.push(rule)
      continue
    }
    const key = JSON.stringify([apiGroups, resources, resourceNames])
    const known = simple.get(key)
    simple.set(key, known ? { ...known, verbs: [...known.verbs, ...rule.verbs] } : rule)
  }
  return [...others, ...simple.values()]
}

/** `{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}` */
export function describeRule(rule: PolicyRule): string {
  const parts: [string, readonly string[] | undefined][] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ]
  const shown = parts.filter(([, values]) => values && values.length > 0)
  return `{${shown.map(([name, values]) => `${name}:${quoted(values!)}`).join(', ')}}`
}

/** `["a" "b"]` */
export function quoted(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(' ')}]`
}
