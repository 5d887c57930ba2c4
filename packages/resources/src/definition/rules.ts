import type { ValidationRule } from '@crosstie/kube/schema'
import { oldPolicyNames, policyNames } from './policies.js'
import { fieldsBelow, type Node, referenceFields, secretRefField } from './schema.js'

/**
 * The rules of a kind's CRD, in CEL. They live on the spec (what is required
 * depends on the policies and on initProvider) and on the whole object (what is
 * immutable depends on the status), so that the API server refuses with a message that names the field.
 */

const keywords = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
)

/** How Kubernetes names a property that is no CEL identifier. */
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

/** True when the policies allow nothing but looking: then only identifiers are required. */
const onlyObserves =
  "!('*' in self.managementPolicies || 'Create' in self.managementPolicies || 'Update' in self.managementPolicies)" +
  " || (has(self.managementPolicy) && self.managementPolicy == 'ObserveOnly')"

/**
 * `managementPolicies` is a set (POL1). It is not declared as `x-kubernetes-list-type: set`: server-side apply merges the
 * items of a set, so `["Observe"]` applied over the default `["*"]` would become `["*", "Observe"]`, which allows everything.
 */
export const noRepeatedPolicy: ValidationRule = {
  rule: 'self.all(name, self.exists_one(other, other == name))',
  message: 'spec.managementPolicies is a set: each policy may be listed once; remove the repeated one',
}

const listed = (names: readonly string[]): string => `[${names.map((name) => `'${name}'`).join(', ')}]`

/** Takes the place of an enum, whose message cannot name the command that translates the former values (POL7). */
export const knownPolicy: ValidationRule = {
  rule: `self in ${listed(policyNames)}`,
  message: `spec.managementPolicies holds any of ${policyNames.join(', ')}`,
  messageExpression:
    `self in ${listed(oldPolicyNames)} ? 'spec.managementPolicies: ' + self + ' is a value of the former spec.managementPolicy; run \`crosstie migrate\` to translate it'` +
    ` : 'spec.managementPolicies: ' + self + ' is not supported; use any of ${policyNames.join(', ')}'`,
}

/** The former policy beside a list that allows more (POL9). The default list does not count: it stands in every object. */
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

/** Required fields (POL10): given in forProvider or initProvider, or by a reference, unless policies only observe. */
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
    // A field of a nested object is only required where that object is.
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

/** How a field beside another one can be given. A name without a field is kept, so that the CRD is refused. */
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

/** The status says this as soon as the external resource exists, or may exist because of a create whose result is unknown. */
const external = 'has(oldSelf.status) && (has(oldSelf.status.externalName) || has(oldSelf.status.creationInDoubt))'

/**
 * Immutable fields (MR11): once the external resource exists, the value keeps what it holds. It may be set to what the
 * provider reports, which corrects a change that an API server without the rule let through. A reference may be removed,
 * so that it is resolved again, but not replaced. Selectors may change. The rules stand at the root of the object, the
 * only place from which CEL reads the status.
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

/** CEL compares values of different paths only when they hold scalars: objects of two paths have two types. */
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
