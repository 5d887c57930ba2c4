import type { ValidationRule } from '@crosstie/kube/schema'
import { oldPolicyNames, policyNames } from './policies.js'
import { fieldsBelow, type Node, referenceFields, secretRefField } from './schema.js'

/**
 * The CEL validation rules of the CRD of a kind. Rules for required fields are on the spec, since they depend on
 * the policies and on initProvider. Rules for immutable fields are on the whole object, since they depend on the
 * status. Each message names the field.
 */

const keywords = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
)

/** Returns the CEL identifier of a property, escaped as Kubernetes escapes it. */
function celName(property: string): string {
  if (keywords.has(property)) return `__${property}__`
  return property
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__')
}

const select = (root: string, path: readonly string[]): string => [root, ...path.map(celName)].join('.')

function has(root: string, path: readonly string[]): string {
  return path.map((_, i) => `has(${select(root, path.slice(0, i + 1))})`).join(' && ')
}

const inInit = (path: readonly string[]): string => `has(self.initProvider) && ${has('self.initProvider', path)}`

/** A CEL expression: the policies allow only observation, so only identifiers are required. */
const onlyObserves =
  "!('*' in self.managementPolicies || 'Create' in self.managementPolicies || 'Update' in self.managementPolicies)" +
  " || (has(self.managementPolicy) && self.managementPolicy == 'ObserveOnly')"

/**
 * `managementPolicies` is a set (POL1), but does not use `x-kubernetes-list-type: set`. Server-side apply merges
 * the items of a set, so applying `["Observe"]` over the default `["*"]` would result in `["*", "Observe"]`, which
 * allows everything.
 */
export const noRepeatedPolicy: ValidationRule = {
  rule: 'self.all(name, self.exists_one(other, other == name))',
  message: 'spec.managementPolicies is a set: each policy may be listed once; remove the repeated one',
}

const listed = (names: readonly string[]): string => `[${names.map((name) => `'${name}'`).join(', ')}]`

/** Replaces an enum, whose message could not name the command that translates former values (POL7). */
export const knownPolicy: ValidationRule = {
  rule: `self in ${listed(policyNames)}`,
  message: `spec.managementPolicies holds any of ${policyNames.join(', ')}`,
  messageExpression:
    `self in ${listed(oldPolicyNames)} ? 'spec.managementPolicies: ' + self + ' is a value of the former spec.managementPolicy; run \`crosstie migrate\` to translate it'` +
    ` : 'spec.managementPolicies: ' + self + ' is not supported; use any of ${policyNames.join(', ')}'`,
}

/**
 * Rejects the former policy next to a list that allows more (POL9). The default list is exempt, since every object
 * has it.
 */
export const contradictoryPolicies: ValidationRule = {
  rule: [
    '!has(self.managementPolicy)',
    "self.managementPolicies == ['*']",
    "!(self.managementPolicy in ['ObserveOnly', 'OrphanOnDelete'])",
    "self.managementPolicies.all(name, name == 'Observe' || (self.managementPolicy == 'OrphanOnDelete' && name in ['Create', 'Update', 'LateInitialize']))",
  ].join(' || '),
  message:
    'spec.managementPolicy forbids actions that spec.managementPolicies allows; run `crosstie migrate`, or remove spec.managementPolicy',
}

/**
 * Returns the rules for required fields (POL10). A field may be set in forProvider, in initProvider or by a
 * reference. Objects that only observe are exempt.
 */
export function requiredRules(parameters: Node): readonly ValidationRule[] {
  const rules: ValidationRule[] = []
  const nodes = new Map([...fieldsBelow(parameters)].map(({ path, node }) => [path.join('.'), node]))
  for (const { path, node } of fieldsBelow(parameters)) {
    const { requiredUnless = [] } = node
    if (
      (node.optional && !node.requiredUnless) ||
      (node.sensitive?.generate ?? false) ||
      (node.identifier && !node.reference)
    )
      continue
    const others = requiredUnless.flatMap((name) => waysToGiveBeside(path, name, nodes))
    const ways = [...waysToGive(path, node), ...others]
    const given = ways.flatMap((way) => [`(${has('self.forProvider', way)})`, `(${inInit(way)})`])
    const parent = path.slice(0, -1)
    // A field of a nested object is required only if that object is set.
    const noParent = parent.length > 0 ? [`(!(${has('self.forProvider', parent)}) && !(${inInit(parent)}))`] : []
    const unless = node.identifier ? [] : [onlyObserves]
    rules.push({
      rule: [...unless, ...noParent, ...given].join(' || '),
      message: `spec.forProvider.${waysToGive(path, node)[0]!.join('.')} is a required parameter${unlessText(requiredUnless)}`,
      reason: 'FieldValueRequired',
    })
  }
  return rules
}

const unlessText = (names: readonly string[]): string =>
  names.length > 0 ? `, unless ${names.join(' or ')} is set` : ''

/** Returns the ways to set a sibling field. An unknown name is kept, so that the API server rejects the CRD. */
function waysToGiveBeside(path: readonly string[], name: string, nodes: ReadonlyMap<string, Node>) {
  const beside = [...path.slice(0, -1), name]
  const node = nodes.get(beside.join('.'))
  return node ? waysToGive(beside, node) : [beside]
}

function waysToGive(path: readonly string[], node: Node): readonly (readonly string[])[] {
  const parent = path.slice(0, -1)
  const name = path.at(-1)!
  if (node.sensitive) return [[...parent, secretRefField(name)]]
  if (!node.reference) return [path]
  const { ref, selector } = referenceFields(name, node)
  return [path, [...parent, ref], [...parent, selector]]
}

/** A CEL expression: the external resource exists, or may exist because the result of a create is unknown. */
const external = 'has(oldSelf.status) && (has(oldSelf.status.externalName) || has(oldSelf.status.creationInDoubt))'

/**
 * Returns the rules for immutable fields (MR11). Once the external resource exists, the value cannot change, except
 * to the value that the provider reports. That corrects a change that an API server without the rule accepted. A
 * reference may be removed, so that it is resolved again, but not replaced. Selectors may change. The rules are at
 * the root of the object, because only there CEL can read the status.
 */
export function immutableRules(parameters: Node): readonly ValidationRule[] {
  const rules: ValidationRule[] = []
  for (const { path, node } of fieldsBelow(parameters)) {
    if (!node.immutable) continue
    const parent = path.slice(0, -1)
    if (node.sensitive) {
      rules.push(unchanged([...parent, secretRefField(path.at(-1)!)], []))
      continue
    }
    const observed = isComparable(node)
      ? [
          `${has('self.spec.forProvider', path)} && ${has('oldSelf.status', ['atProvider', ...path])} && ${same(path, 'oldSelf.status.atProvider')}`,
        ]
      : []
    if (!node.reference) {
      rules.push(unchanged(path, observed))
      continue
    }
    const { ref, selector } = referenceFields(path.at(-1)!, node)
    const absent = `!(${has('self.spec.forProvider', path)})`
    const given = [ref, selector].map((field) => `(${has('self.spec.forProvider', [...parent, field])})`).join(' || ')
    rules.push(unchanged(path, [...observed, `(${absent} && (${given}))`]))
    rules.push(unchanged([...parent, ref], [`!(${has('self.spec.forProvider', [...parent, ref])})`]))
  }
  return rules
}

/** Returns whether CEL can compare the values of two paths. Objects at different paths have different CEL types. */
function isComparable({ type, items }: Node): boolean {
  const scalars = ['string', 'integer', 'number', 'boolean']
  return scalars.includes(type) || ((type === 'list' || type === 'map') && scalars.includes(items!.type))
}

const same = (path: readonly string[], other: string): string =>
  `${select('self.spec.forProvider', path)} == ${select(other, path)}`

function unchanged(path: readonly string[], unless: readonly string[]): ValidationRule {
  const [root, old] = ['self.spec.forProvider', 'oldSelf.spec.forProvider']
  const kept = `(${has(root, path)} && ${same(path, old)})`
  return {
    rule: [`!(${external})`, `!(${has(old, path)})`, kept, ...unless.map((allowed) => `(${allowed})`)].join(' || '),
    message: `spec.forProvider.${path.join('.')} is immutable: the external resource exists or is being created`,
    reason: 'FieldValueForbidden',
    fieldPath: `.spec.forProvider${path.map((name) => (/^\w+$/.test(name) ? `.${name}` : `['${name}']`)).join('')}`,
  }
}
