import { type JsonObject, type KubeObject, parseFieldPath, setFieldValue } from '@crosstie/kube'
import type { Cluster, Target } from './cluster.js'
import { type Path, secretPaths } from './manifest.js'
import { isSecret, valueAt } from './values.js'

/** An object by its name, as references give it. */
export interface Named {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
}

/** What an Object needs of other objects of the API that it is kept in. */
export interface Reference {
  readonly dependsOn?: Named
  readonly patchesFrom?: Named & { readonly fieldPath: string }
  readonly toFieldPath?: string
}

/** A manifest with everything filled in, and what of it must not be told. */
export interface Filled {
  readonly manifest: JsonObject
  readonly hidden: readonly Path[]
  readonly secrets: readonly string[]
}

export const nameOf = ({ kind, namespace, name }: Named): string => `${kind} ${namespace ? `${namespace}/` : ''}${name}`

export async function targetOf(cluster: Cluster, named: Named, signal: AbortSignal): Promise<Target> {
  const type = await cluster.typeOf(named.apiVersion, named.kind, signal)
  if (type.namespaced && !named.namespace) throw new Error(`${nameOf(named)} needs a namespace: its kind is namespaced`)
  return { type, key: { name: named.name, ...(type.namespaced ? { namespace: named.namespace! } : {}) } }
}

/** Fields that say which object it is. If they came from elsewhere, it could become another one any moment. */
const identity = /^(apiVersion|kind|metadata\.name|metadata\.namespace)$/

/** Reads what is referred to and puts it where it belongs. Throws when something is not there yet. */
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

/** What goes into the data of a Secret goes there encoded, as all values of Secrets are. */
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
