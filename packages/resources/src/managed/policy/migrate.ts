import {
  type Client,
  groupResource,
  isConflict,
  isNotFound,
  type Json,
  type KubeObject,
  messageOf,
  type ResourceType,
} from '@crosstie/kube'
import { annotationOf, annotations } from '../../metadata/metadata.js'
import { allowedByBoth, migratedPolicies, migratePolicies, type PolicySpec, withoutDelete } from './policy.js'

/** The result of migrating manifests from `managementPolicy` and `deletionPolicy` to `managementPolicies` (POL7). */

export interface MigratedText {
  readonly text: string
  /** The number of documents that were rewritten. */
  readonly changed: number
  /** Lines, starting at 1, with an old policy that must be changed by hand. */
  readonly unclear: readonly number[]
}

const olds = 'Default|Full|FullControl|OrphanOnDelete|ObserveOnly'
const oldPolicy = new RegExp(`^(\\s*)managementPolic(?:y|ies):\\s*["']?(${olds})["']?\\s*(#.*)?$`)
const suspicious = new RegExp(`managementPolic(?:y|ies)["']?\\s*:\\s*["']?(?:${olds})\\b`)
const deletion = /^(\s*)deletionPolicy:\s*["']?(Delete|Orphan)["']?\s*(#.*)?$/
const newPolicies = /^(\s*)managementPolicies:\s*(?:\[([^\]]*)\])?\s*(#.*)?$/
/** Matches managed resources and their classes. A deletionPolicy of other kinds may have another meaning. */
const ofManaged = /^\s+forProvider:/m

/** Replaces old policies in manifests. Everything else, including comments, stays unchanged. */
export function migrateManifest(text: string): MigratedText {
  let line = 0
  let changed = 0
  const unclear: number[] = []
  const migrated = text.split(/^(?=---)/m).map((document) => {
    const lines = document.split('\n')
    const first = line
    line += lines.length - 1
    const result = migrateDocument(lines, ofManaged.test(document))
    unclear.push(...result.unclear.map((at) => first + at + 1))
    if (!result.lines) return document
    changed++
    return result.lines.join('\n')
  })
  return { text: migrated.join(''), changed, unclear }
}

interface MigratedDocument {
  /** Absent if the document does not change. */
  readonly lines?: readonly string[]
  readonly unclear: readonly number[]
}

function migrateDocument(lines: readonly string[], managed: boolean): MigratedDocument {
  const unclear = lines.flatMap((each, i) => (suspicious.test(each) && !oldPolicy.test(each) ? [i] : []))
  const old = find(lines, oldPolicy)
  if (old) {
    const [, indent, policy] = old.match
    const sibling = find(lines, deletion, indent)
    const stated = find(lines, newPolicies, indent)
    // A list over several lines: a person decides which items the old policy forbids.
    if (stated && stated.match[2] === undefined) return { unclear: [...unclear, old.at] }
    if (stated) {
      const both = withoutDelete(allowedByBoth(policy, namesIn(stated.match[2]!)), sibling?.match[2])
      const without = [old.at, ...(sibling ? [sibling.at] : [])]
      return { lines: rewritten(lines, stated.at, without, both), unclear }
    }
    return {
      lines: rewritten(lines, old.at, sibling ? [sibling.at] : [], migratedPolicies(policy!, sibling?.match[2])),
      unclear,
    }
  }
  const orphan = lines.findIndex((each) => deletion.exec(each)?.[2] === 'Orphan')
  if (!managed || orphan < 0) return { unclear }
  const stated = find(lines, newPolicies, deletion.exec(lines[orphan]!)![1])
  if (!stated) return { lines: rewritten(lines, orphan, [], withoutDelete(['*'], 'Orphan')), unclear }
  // A list over several lines: a person decides which items to remove.
  if (stated.match[2] === undefined) return { unclear: [...unclear, orphan] }
  const kept = withoutDelete(namesIn(stated.match[2]), 'Orphan')
  return { lines: rewritten(lines, stated.at, [orphan], kept), unclear }
}

/** Returns the items of a list on one line. */
function namesIn(list: string): readonly string[] {
  const names = list.split(',').map((name) => name.trim().replace(/^["']|["']$/g, ''))
  return names.filter(Boolean)
}

function find(lines: readonly string[], pattern: RegExp, indent?: string) {
  for (const [at, line] of lines.entries()) {
    const match = pattern.exec(line)
    if (match && (indent === undefined || match[1] === indent)) return { at, match }
  }
  return undefined
}

/** Returns the lines with the policies on one line, with its comment, and without the lines in `without`. */
function rewritten(
  lines: readonly string[],
  at: number,
  without: readonly number[],
  names: readonly string[],
): readonly string[] {
  const [, indent = '', comment] = /^(\s*)[^#]*(#.*)?$/.exec(lines[at]!) ?? []
  const written = `${indent}managementPolicies: [${names.map((name) => JSON.stringify(name)).join(', ')}]`
  return lines.with(at, `${written}${comment ? ` ${comment}` : ''}`).filter((_, i) => !without.includes(i))
}

const crds: ResourceType = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  resource: 'customresourcedefinitions',
  namespaced: false,
}

/** Holds the previous value of the pause annotation during a migration. */
const MIGRATING = 'crosstie.io/migrating'
const PAGE = 500
const TRIES = 5

/** The migration of one live object and its result. */
export interface Migration {
  readonly type: ResourceType
  readonly name: string
  readonly namespace?: string
  readonly before: Pick<PolicySpec, 'managementPolicy' | 'managementPolicies' | 'deletionPolicy'>
  readonly after: readonly string[]
  readonly outcome: 'planned' | 'migrated' | 'failed'
  readonly error?: string
}

/** Options of `migrateLive`. */
export interface MigrateOptions {
  readonly client: Client
  /** Reports the planned changes without writing them. */
  readonly dryRun: boolean
  /** Called for each object after its migration. */
  readonly told?: (migration: Migration) => void
  /** Called for each object before it is checked, to show progress. */
  readonly looked?: (at: Looked) => void
  readonly signal?: AbortSignal
}

/** The progress of a migration. */
export interface Looked {
  readonly type: ResourceType
  readonly name: string
  /** The position of the current managed kind, starting at 1, and the number of kinds. */
  readonly kind: number
  readonly kinds: number
  /** The number of objects that were checked before. */
  readonly objects: number
}

/**
 * Migrates all live managed resources with an old policy. Each one is paused, changed and resumed, so that no
 * controller acts on an intermediate state. A failure does not stop the migration of other objects. The next run
 * completes and resumes objects that an interrupted run left paused.
 */
export async function migrateLive(options: MigrateOptions): Promise<readonly Migration[]> {
  const { client, dryRun, told, looked, signal } = options
  const call = signal ? { signal } : {}
  const { items } = await client.list(crds, call)
  const all: Migration[] = []
  let objects = 0
  const types = items.flatMap(managedType)
  for (const [i, type] of types.entries()) {
    for await (const object of objectsOf(client, type, call)) {
      looked?.({ type, name: object.metadata.name!, kind: i + 1, kinds: types.length, objects: objects++ })
      const planned = plan(type, object)
      if (!planned) continue
      const migration = dryRun ? planned : await outcomeOf(planned, () => migrateOne(client, planned, call))
      all.push(migration)
      told?.(migration)
    }
  }
  return all
}

async function* objectsOf(client: Client, type: ResourceType, call: { readonly signal?: AbortSignal }) {
  let token: string | undefined
  do {
    const page = await client.list(type, { limit: PAGE, ...(token ? { continue: token } : {}), ...call })
    yield* page.items
    token = page.metadata.continue
  } while (token)
}

/** Returns undefined if there is nothing to do. */
function plan(type: ResourceType, object: KubeObject): Migration | undefined {
  const migrated = migratePolicies(object)
  if (!migrated && object.metadata.annotations?.[MIGRATING] === undefined) return undefined
  const spec = (object['spec'] ?? {}) as PolicySpec
  const { managementPolicies: after = [] } = ((migrated ?? object)['spec'] ?? {}) as { managementPolicies?: string[] }
  const { managementPolicy, managementPolicies, deletionPolicy } = spec
  const { name, namespace } = object.metadata
  return {
    type,
    name: name!,
    ...(namespace ? { namespace } : {}),
    before: {
      ...(managementPolicy ? { managementPolicy } : {}),
      ...(managementPolicies ? { managementPolicies } : {}),
      ...(deletionPolicy ? { deletionPolicy } : {}),
    },
    after,
    outcome: 'planned',
  }
}

async function outcomeOf(planned: Migration, run: () => Promise<void>): Promise<Migration> {
  try {
    await run()
    return { ...planned, outcome: 'migrated' }
  } catch (error) {
    const name = `${groupResource(planned.type)}/${planned.name}`
    return { ...planned, outcome: 'failed', error: `cannot migrate ${name}: ${messageOf(error)}` }
  }
}

async function migrateOne(
  client: Client,
  { type, name, namespace }: Migration,
  call: { readonly signal?: AbortSignal },
): Promise<void> {
  const key = { name, ...(namespace ? { namespace } : {}) }
  for (let tries = 1; ; tries++) {
    try {
      let object = await client.get(type, key, call)
      const patch = async (metadata: object, more: object = {}) => {
        const { resourceVersion } = object.metadata
        const change = { metadata: { resourceVersion, ...metadata }, ...more } as unknown as Json
        object = await client.patch(type, key, { type: 'merge', patch: change }, call)
      }
      const notes = object.metadata.annotations ?? {}
      if (notes[MIGRATING] === undefined) {
        const before = annotationOf(object, annotations.paused)
        await patch({ annotations: { [annotations.paused]: 'true', [MIGRATING]: before } })
      }
      const held = annotationOf(object, MIGRATING)
      const { managementPolicies } = (migratePolicies(object)?.['spec'] ?? {}) as { managementPolicies?: string[] }
      if (managementPolicies) {
        await patch({}, { spec: { managementPolicies, managementPolicy: null, deletionPolicy: null } })
      }
      await patch({ annotations: { [annotations.paused]: held === '' ? null : held, [MIGRATING]: null } })
      return
    } catch (error) {
      // The object is gone, so nothing can act on its old policy.
      if (isNotFound(error)) return
      // The other writer may have changed the policies, so read the object again.
      if (!isConflict(error) || tries === TRIES) throw error
    }
  }
}

/** Returns the type of a CRD with the category `managed`. */
function managedType(crd: KubeObject): readonly ResourceType[] {
  const spec = crd['spec'] as {
    readonly group: string
    readonly scope: string
    readonly names: { readonly kind: string; readonly plural: string; readonly categories?: readonly string[] }
    readonly versions: readonly { readonly name: string; readonly storage: boolean }[]
  }
  const version = spec.versions.find(({ storage }) => storage)
  if (!version || !spec.names.categories?.includes('managed')) return []
  const { kind, plural } = spec.names
  return [{ group: spec.group, version: version.name, kind, resource: plural, namespaced: spec.scope === 'Namespaced' }]
}
