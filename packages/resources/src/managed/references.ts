import { equal, findInChain, messageOf, setFieldValue } from '@crosstie/kube'
import { aggregateType } from '../definition/aggregate.js'
import { type Node, referenceFields } from '../definition/schema.js'
import { entriesOf } from '../metadata/binding.js'
import { isDeleted } from '../metadata/metadata.js'
import {
  extractor,
  isSelected,
  type ObjectReference,
  type ObjectSelector,
  referrerOf,
  resolveMany,
  resolveOne,
  UnresolvedError,
} from '../reference/resolve.js'
import { UNRESOLVED } from '../status/conditions.js'
import { applyOwn, ownsField } from './ownership/field-ownership.js'
import { type Reconciliation, step, type Values } from './reconciliation.js'
import type { Unresolved } from './runtime.js'

/** The field manager of resolved references. */
export const referenceManager = 'managed.crossplane.io/api-simple-reference-resolver'

/** Reports whether references must be resolved. Deleted objects do not need them. */
export function hasReferences({ runtime, managed }: Reconciliation): boolean {
  return runtime.referenceFields.length > 0 && !isDeleted(managed)
}

/**
 * Sets the fields that references provide. The values are applied under a separate field manager, so that they
 * neither conflict with other appliers nor get lost.
 */
export async function resolveReferences(reconciliation: Reconciliation): Promise<void> {
  const reason = 'CannotResolveResourceReferences'
  const { name, namespace } = reconciliation.managed.metadata
  const resolved = await step({ reason, both: true }, () => resolveAll(reconciliation)).catch((error) => {
    const awaits = findInChain(error, FieldError)?.awaits ?? (() => true)
    reconciliation.state.unresolved = { key: { name: name!, ...(namespace ? { namespace } : {}) }, awaits }
    throw error
  })
  reconciliation.state.unresolved = undefined
  if (equal(resolved, {})) return
  await step({ reason, prefix: 'cannot patch the managed resource via server-side apply: ', both: true }, async () => {
    reconciliation.managed = await applyOwn(reconciliation, referenceManager, resolved)
  })
}

/** Returns the fields that resolving adds to the spec. */
async function resolveAll(reconciliation: Reconciliation): Promise<Values> {
  let found: Values = {}
  for (const side of ['forProvider', 'initProvider'] as const) {
    const values = side === 'forProvider' ? reconciliation.forProvider : reconciliation.initProvider
    if (!values) continue
    for (const { path } of reconciliation.runtime.referenceFields) {
      try {
        for (const [name, value] of Object.entries(await resolveField(reconciliation, side, values, path))) {
          found = setFieldValue(found, [{ field: side }, ...path.slice(0, -1).map(fieldOf), { field: name }], value)
        }
      } catch (error) {
        const where = `spec.${side}.${path.join('.')}`
        const message = `${UNRESOLVED}: ${where}: ${messageOf(error)}`
        throw new FieldError(message, awaitedBy(reconciliation, values, path), { cause: error })
      }
    }
  }
  return found
}

/** A reference of a field cannot be resolved yet. */
class FieldError extends Error {
  constructor(
    message: string,
    readonly awaits: Unresolved['awaits'],
    options: ErrorOptions,
  ) {
    super(message, options)
  }
}

/**
 * Throws until the aggregate lists its members, which it does once all of them are created. Before that, a selector
 * for all members of a kind could miss some, and its result is not resolved again.
 */
async function untilWhole({ runtime, managed, signal }: Reconciliation): Promise<void> {
  const { aggregateRef } = managed['spec'] as { aggregateRef?: { name?: string } }
  if (!aggregateRef?.name) return
  const aggregate = await runtime.client.get(aggregateType, { name: aggregateRef.name }, { signal })
  if (entriesOf(aggregate).length > 0) return
  throw new UnresolvedError('noMatches', `AggregateResource ${aggregateRef.name} is still being provisioned`)
}

/** Returns a predicate for objects that may resolve a field: those that its references name or its selector matches. */
function awaitedBy(
  { runtime, managed }: Reconciliation,
  values: Values,
  path: readonly string[],
): Unresolved['awaits'] {
  const { parent, field } = fieldAt(runtime.kind.parameters, values, path)
  const { ref, selector } = referenceFields(path.at(-1)!, field)
  const type = field.reference!.to()
  const held = parent?.[ref] as ObjectReference | readonly ObjectReference[] | undefined
  const names = [held ?? []].flat().map((reference) => (reference as ObjectReference).name)
  const choosing = parent?.[selector] as ObjectSelector | undefined
  const from = referrerOf(managed)
  return (object) =>
    object.kind === type.kind &&
    (names.includes(object.metadata.name!) || (choosing !== undefined && isSelected(from, choosing, object)))
}

/** Returns the schema of a field and the parent value, which may be absent. */
function fieldAt(
  parameters: Node,
  values: Values,
  path: readonly string[],
): { parent: Values | undefined; field: Node } {
  let parent: Values | undefined = values
  let node = parameters
  for (const name of path.slice(0, -1)) {
    parent = parent?.[name] as Values | undefined
    node = node.fields![name]!
  }
  return { parent, field: node.fields![path.at(-1)!]! }
}

const fieldOf = (field: string) => ({ field })

async function resolveField(
  reconciliation: Reconciliation,
  side: string,
  values: Values,
  path: readonly string[],
): Promise<Values> {
  const { runtime, managed } = reconciliation
  const name = path.at(-1)!
  const { parent, field } = fieldAt(runtime.kind.parameters, values, path)
  const { ref, selector } = referenceFields(name, field)
  if (!parent || (parent[ref] === undefined && parent[selector] === undefined)) return {}
  const target = { type: field.reference!.to(), extract: extractor(field.reference!.value) }
  const given = { selector: parent[selector] as ObjectSelector | undefined }
  const from = referrerOf(managed)
  // A deleted reference with a remaining selector is a request to select again, so the resolved value is discarded.
  const again = parent[ref] === undefined && ownsField(managed, referenceManager, [side, ...path])
  const current = again ? undefined : parent[name]
  if (field.type === 'list') {
    const held = { values: (current ?? []) as string[], references: (parent[ref] ?? []) as ObjectReference[] }
    if (given.selector?.matchAggregate && held.values.length === 0) await untilWhole(reconciliation)
    const { values, references } = await resolveMany(runtime.client, from, target, { ...held, ...given })
    return changes({ [name]: values, [ref]: references }, parent)
  }
  const held = { value: String(current ?? ''), reference: parent[ref] as ObjectReference | undefined }
  const { value, reference } = await resolveOne(runtime.client, from, target, { ...held, ...given })
  return changes({ [name]: value, [ref]: reference }, parent)
}

/** Returns the values that changed. An optional reference without a target leaves the user's values unchanged. */
function changes(resolved: Values, held: Values): Values {
  const isEmpty = (value: unknown) =>
    value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
  return Object.fromEntries(
    Object.entries(resolved).filter(([name, value]) => !isEmpty(value) && !equal(value, held[name])),
  )
}
