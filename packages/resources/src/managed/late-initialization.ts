import { getOwn, isObject, type Json } from '@crosstie/kube'
import { type Node, referenceFields } from '../definition/schema.js'
import { applyOwn } from './ownership/field-ownership.js'
import { type Reconciliation, step, type Values } from './reconciliation.js'

const none: Values = {}

/** The field manager of late-initialized fields. */
export const lateInitManager = 'managed.crossplane.io/late-initializer'

/** Fills empty fields of forProvider with values that the provider chose. */
export async function lateInitialize(reconciliation: Reconciliation, fill: Values): Promise<void> {
  const failure = { reason: 'CannotUpdateManagedResource', prefix: 'cannot update managed resource: ' }
  await step({ ...failure, evenConflicts: true }, async () => {
    reconciliation.managed = await applyOwn(reconciliation, lateInitManager, { forProvider: fill })
  })
}

/**
 * Returns the empty fields of forProvider with the values that the provider chose, for late initialization (MR6).
 * Identifiers, sensitive fields, shared maps, items of existing lists, fields that a reference sets and fields of
 * initProvider are left out. Values of initProvider apply to the creation only.
 */
export function emptyFields(
  node: Node,
  forProvider: Values,
  initProvider: Values | undefined,
  observed: Values,
): Values {
  const fill: Record<string, unknown> = {}
  for (const name in node.fields) {
    const field = node.fields[name]!
    const is = observed[name]
    if (is === undefined || is === null || !isFillable(field)) continue
    const init = initProvider?.[name]
    const value = valueToFill(name, field, forProvider, init, is)
    if (value !== undefined) fill[name] = value
  }
  return fill
}

/** Returns the value for one field; undefined if the user or a reference sets it. */
function valueToFill(name: string, field: Node, forProvider: Values, init: unknown, is: unknown): unknown {
  const has = forProvider[name]
  if (field.type === 'object' && isObject(is)) {
    const inner = emptyFields(field, isObject(has) ? has : none, isObject(init) ? init : undefined, is)
    return Object.keys(inner).length > 0 ? inner : undefined
  }
  const isOpen = has === undefined && init === undefined && !givenByReference(name, field, forProvider)
  return isOpen ? configurable(field, is as Json) : undefined
}

/** Identifiers and secrets come from the user, and others own keys of shared maps. */
function isFillable(field: Node): boolean {
  return !field.identifier && !field.sensitive && !field.shared && field.lateInitialize !== false
}

function givenByReference(name: string, field: Node, forProvider: Values): boolean {
  if (!field.reference) return false
  const { ref, selector } = referenceFields(name, field)
  return forProvider[ref] !== undefined || forProvider[selector] !== undefined
}

/** Returns only the fields that the schema lets a user set, because providers report more. */
function configurable(node: Node, value: Json): Json | undefined {
  if (node.type === 'list' && Array.isArray(value)) {
    // An empty list means the same as an absent one.
    return value.length > 0 ? value.map((item) => configurable(node.items!, item) ?? null) : undefined
  }
  if (node.type === 'object' && isObject(value)) {
    const entries = Object.entries(node.fields ?? {}).flatMap(([name, field]) => {
      const inner = getOwn(value, name)
      return inner === undefined || inner === null || field.sensitive
        ? []
        : [[name, configurable(field, inner as Json)]]
    })
    return Object.fromEntries(entries) as Json
  }
  return value
}
