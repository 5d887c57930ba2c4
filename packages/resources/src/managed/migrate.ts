import { type Client, groupResource, isNotFound, type Json, type KubeObject, type ResourceType } from '@crosstie/kube'
import { annotationOf, annotations } from './meta.js'
import { migratedPolicies, migratePolicies } from './policy.js'

/** From the old, single-valued managementPolicy to management policies (POL7): in manifests, and in live objects. */

export interface MigratedText {
  readonly text: string
  /** How many policies were rewritten. */
  readonly changed: number
  /** Lines, from 1, that hold an old policy in a form that must be changed by hand. */
  readonly unclear: readonly number[]
}

const olds = 'Default|Full|FullControl|OrphanOnDelete|ObserveOnly'
const oldPolicy = new RegExp(`^(\\s*)managementPolic(?:y|ies):\\s*["']?(${olds})["']?\\s*(#.*)?$`)
const suspicious = new RegExp(`managementPolic(?:y|ies)["']?\\s*:\\s*["']?(?:${olds})\\b`)
const deletion = /^(\s*)deletionPolicy:\s*["']?(Delete|Orphan)["']?\s*(#.*)?$/

/** The manifests with old policies in new words. All else, comments included, stays as it is. */
export function migrateManifest(text: string): MigratedText {
  const documents = text.split(/^(?=---)/m)
  let line = 0
  let changed = 0
  const unclear: number[] = []
  const migrated = documents.map((document) => {
    const lines = document.split('\n')
    const first = line
    line += lines.length - 1
    const old = lines.map((each) => oldPolicy.exec(each)).find(Boolean)
    lines.forEach((each, i) => {
      if (suspicious.test(each) && !oldPolicy.test(each)) unclear.push(first + i + 1)
    })
    if (!old) return document
    changed++
    const [, indent, policy, comment] = old
    const sibling = lines.map((each) => deletion.exec(each)).find((match) => match?.[1] === indent)
    const names = migratedPolicies(policy!, sibling?.[2])
    const written = `${indent}managementPolicies: [${names.map((name) => JSON.stringify(name)).join(', ')}]`
    return lines
      .filter((each) => deletion.exec(each)?.[1] !== indent)
      .map((each) => (oldPolicy.test(each) ? `${written}${comment ? ` ${comment}` : ''}` : each))
      .join('\n')
  })
  return { text: migrated.join(''), changed, unclear }
}

const crds: ResourceType = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  resource: 'customresourcedefinitions',
  namespaced: false,
}

export interface MigrateOptions {
  readonly client: Client
  /** Changes nothing, and tells what would be. */
  readonly dryRun: boolean
  readonly tell: (line: string) => void
  readonly signal?: AbortSignal
}

/**
 * Migrates every live managed resource that has an old policy: paused first,
 * so that no controller acts on a state in between, then changed, then resumed.
 * Returns how many there were.
 */
export async function migrateLive({ client, dryRun, tell, signal }: MigrateOptions): Promise<number> {
  const options = signal ? { signal } : {}
  const { items } = await client.list(crds, options)
  let count = 0
  for (const type of items.flatMap(managedType)) {
    const page = await client.list(type, options)
    for (const object of page.items) {
      const migrated = migratePolicies(object)
      if (!migrated) continue
      count++
      const { managementPolicies } = migrated['spec'] as { managementPolicies: readonly string[] }
      tell(`${groupResource(type)}/${object.metadata.name}: ${JSON.stringify(managementPolicies)}`)
      if (!dryRun) await migrateOne(client, type, object, managementPolicies, options)
    }
  }
  return count
}

async function migrateOne(
  client: Client,
  type: ResourceType,
  { metadata, ...rest }: KubeObject,
  managementPolicies: readonly string[],
  options: { readonly signal?: AbortSignal },
): Promise<void> {
  const key = { name: metadata.name!, ...(metadata.namespace ? { namespace: metadata.namespace } : {}) }
  const patch = (change: object) => client.patch(type, key, { type: 'merge', patch: change as Json }, options)
  const held = annotationOf({ metadata, ...rest } as KubeObject, annotations.paused)
  const pause = (value: string | null) => patch({ metadata: { annotations: { [annotations.paused]: value } } })
  try {
    if (held !== 'true') await pause('true')
    await patch({ spec: { managementPolicies, managementPolicy: null, deletionPolicy: null } })
    if (held !== 'true') await pause(held === '' ? null : held)
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

/** Managed kinds say that they are, by a category. */
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
