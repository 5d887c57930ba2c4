import { equal, messageOf, setFieldValue } from '@crosstie/kube'
import { referenceFields } from '../definition/schema.js'
import {
  extractor,
  type ObjectReference,
  type ObjectSelector,
  referrerOf,
  resolveMany,
  resolveOne,
} from '../reference/resolve.js'
import { isDeleted } from './meta.js'
import { applyOwn, ownsField } from './ownfields.js'
import { step, type Turn, type Values } from './turn.js'

export const referenceManager = 'managed.crossplane.io/api-simple-reference-resolver'

/**
 * Fills the fields that references give. What was resolved is applied under a
 * field manager of our own, so that it is neither lost to nor fought over with
 * those who apply the rest.
 */
export async function resolveReferences(turn: Turn): Promise<void> {
  if (isDeleted(turn.managed) || turn.kit.referenceFields.length === 0) return
  const reason = 'CannotResolveResourceReferences'
  const { unresolved } = turn.kit
  const { uid = '', name, namespace } = turn.managed.metadata
  const resolved = await step({ reason, both: true }, () => resolveAll(turn)).catch((error) => {
    unresolved.set(uid, { name: name!, ...(namespace ? { namespace } : {}) })
    throw error
  })
  unresolved.delete(uid)
  if (equal(resolved, {})) return
  await step({ reason, prefix: 'cannot patch the managed resource via server-side apply: ', both: true }, async () => {
    turn.managed = await applyOwn(turn, referenceManager, resolved)
  })
}

/** What resolving adds to the spec. */
async function resolveAll(turn: Turn): Promise<Values> {
  let found: Values = {}
  for (const side of ['forProvider', 'initProvider'] as const) {
    const values = side === 'forProvider' ? turn.forProvider : turn.initProvider
    if (!values) continue
    for (const { path } of turn.kit.referenceFields) {
      try {
        for (const [name, value] of Object.entries(await resolveField(turn, side, values, path))) {
          found = setFieldValue(found, [{ field: side }, ...path.slice(0, -1).map(fieldOf), { field: name }], value)
        }
      } catch (error) {
        const where = `spec.${side}.${path.join('.')}`
        throw new Error(`cannot resolve references: ${where}: ${messageOf(error)}`, { cause: error })
      }
    }
  }
  return found
}

const fieldOf = (field: string) => ({ field })

async function resolveField(turn: Turn, side: string, values: Values, path: readonly string[]): Promise<Values> {
  const { kit, managed } = turn
  let parent: Values | undefined = values
  let node = kit.kind.parameters
  for (const name of path.slice(0, -1)) {
    parent = parent?.[name] as Values | undefined
    node = node.fields![name]!
  }
  const name = path.at(-1)!
  const field = node.fields![name]!
  const { ref, selector } = referenceFields(name, field)
  if (!parent || (parent[ref] === undefined && parent[selector] === undefined)) return {}
  const target = { type: field.reference!.to(), extract: extractor(field.reference!.value) }
  const given = { selector: parent[selector] as ObjectSelector | undefined }
  const from = referrerOf(managed)
  // Whoever deletes the reference but leaves the selector wants it chosen anew: what we resolved before goes with it.
  const again = parent[ref] === undefined && ownsField(managed, referenceManager, [side, ...path])
  const current = again ? undefined : parent[name]
  if (field.type === 'list') {
    const held = { values: (current ?? []) as string[], references: (parent[ref] ?? []) as ObjectReference[] }
    const { values, references } = await resolveMany(kit.client, from, target, { ...held, ...given })
    return changes({ [name]: values, [ref]: references }, parent)
  }
  const held = { value: String(current ?? ''), reference: parent[ref] as ObjectReference | undefined }
  const { value, reference } = await resolveOne(kit.client, from, target, { ...held, ...given })
  return changes({ [name]: value, [ref]: reference }, parent)
}

/** An optional reference that leads nowhere leaves what the user wrote as it is. */
function changes(resolved: Values, held: Values): Values {
  const isEmpty = (value: unknown) =>
    value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
  return Object.fromEntries(
    Object.entries(resolved).filter(([name, value]) => !isEmpty(value) && !equal(value, held[name])),
  )
}
