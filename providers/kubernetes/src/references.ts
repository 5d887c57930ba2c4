import { type JsonObject, type KubeObject, parseFieldPath, setFieldValue } from '@crosstie/kube'
import type { Cluster, Target } from './cluster.js'
import { type Path, secretPaths } from './manifest.js'
import { isSecret, valueAt } from './values.js'

/** An object of a reference. */
export interface Named {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
}

/** A reference of an Object to another object of its API. */
export interface Reference {
  readonly dependsOn?: Named
  readonly patchesFrom?: Named & { readonly fieldPath: string }
  readonly toFieldPath?: string
}

/** A manifest with resolved references, and its secret texts. */
export interface Filled {
  readonly manifest: JsonObject
  readonly hidden: readonly Path[]
  readonly secrets: readonly string[]
}

/** Formats the name of an object for messages. */
export const nameOf = ({ kind, namespace, name }: Named): string => `${kind} ${namespace ? `${namespace}/` : ''}${name}`

/** Returns the target of a reference. Throws if the cluster does not serve the kind. */
export async function targetOf(cluster: Cluster, named: Named, signal: AbortSignal): Promise<Target> {
  const type = await cluster.typeOf(named.apiVersion, named.kind, signal)
  if (type.namespaced && !named.namespace) throw new Error(`${nameOf(named)} needs a namespace: its kind is namespaced`)
  return { type, key: { name: named.name, ...(type.namespaced ? { namespace: named.namespace! } : {}) } }
}

/**
 * Fields that identify the object. They cannot be patched from references, since the Object would change its
 * target.
 */
const identity = /^(apiVersion|kind|metadata\.name|metadata\.namespace)$/

/** Resolves references and patches the manifest. Throws if a referenced value does not exist yet. */
export async function fill(
  own: Cluster,
  manifest: JsonObject,
  references: readonly Reference[],
  signal: AbortSignal,
): Promise<Filled> {
  let filled = manifest
  const hidden: Path[] = []
  const secrets: string[] = []
  for (const [i, { dependsOn, patchesFrom, toFieldPath }] of references.entries()) {
    const here = `spec.forProvider.references[${i}]`
    const named = patchesFrom ?? dependsOn
    if (!named) throw new Error(`${here} has neither dependsOn nor patchesFrom`)
    const object = await readThere(own, here, named, signal)
    if (!patchesFrom) continue
    const to = toFieldPath ?? patchesFrom.fieldPath
    const path = parseFieldPath(to)
    if (path.length === 0 || identity.test(to)) {
      throw new Error(`${here}.toFieldPath "${to}" says which object this is about: write that into the manifest`)
    }
    const value = valueAt(object, patchesFrom.fieldPath)
    if (value === undefined) throw new Error(`${here}: ${nameOf(patchesFrom)} has no ${patchesFrom.fieldPath} yet`)
    if (isSecret(object)) {
      hidden.push(path)
      secrets.push(...texts(value))
    }
    filled = setFieldValue(filled, path, forField(filled, path, value))
  }
  return { manifest: filled, hidden, secrets }
}

async function readThere(own: Cluster, here: string, named: Named, signal: AbortSignal): Promise<KubeObject> {
  const object = await own.read(await targetOf(own, named, signal), signal)
  if (!object) throw new Error(`${here}: ${nameOf(named)} is not there yet`)
  if (object.metadata.deletionTimestamp) throw new Error(`${here}: ${nameOf(named)} is being deleted`)
  return object
}

/** Encodes a value for the data of a Secret. */
function forField(manifest: JsonObject, path: Path, value: unknown): unknown {
  const [first] = path
  const intoData = path.length === 2 && first !== undefined && 'field' in first && first.field === 'data'
  const into = { apiVersion: manifest['apiVersion'], kind: manifest['kind'], data: { x: '' } } as unknown as JsonObject
  if (!intoData || secretPaths(into).length === 0 || typeof value !== 'string') return value
  return Buffer.from(value).toString('base64')
}

function texts(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value, Buffer.from(value).toString('base64')]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(texts) : []
}
