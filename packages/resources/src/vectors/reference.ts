import {
  type KubeObject,
  type ListOptions,
  notFound,
  type ObjectKey,
  type ResourceType,
  StatusError,
} from '@crosstie/kube'
import { annotations } from '../metadata/metadata.js'
import { extractor, type Referrer, resolveMany, resolveOne, UnresolvedError } from '../reference/resolve.js'
import type { Report, Vector } from './report.js'

const group = 'oracle.example.org'
const clusterType: ResourceType = {
  group,
  version: 'v1alpha1',
  kind: 'ClusterWidget',
  resource: 'clusterwidgets',
  namespaced: false,
}
const namespacedType: ResourceType = {
  group,
  version: 'v1alpha1',
  kind: 'Widget',
  resource: 'widgets',
  namespaced: true,
}

/** Runs reference.json. */
export async function runReferences(file: Vector, report: Report): Promise<void> {
  const lists = [
    { name: 'single', type: clusterType, objects: 'clusterObjects' },
    { name: 'multi', type: clusterType, objects: 'clusterObjects' },
    { name: 'namespacedSingle', type: namespacedType, objects: 'namespacedObjects' },
    { name: 'namespacedMulti', type: namespacedType, objects: 'namespacedObjects' },
  ]
  for (const { name, type, objects } of lists) {
    for (const [i, vector] of ((file[name] ?? []) as Vector[]).entries()) {
      const world = new World(type, file[objects] ?? [], vector['kubeFaults'])
      const from: Referrer = {
        deleted: vector['fromDeleted'] ?? false,
        owners: [{ apiVersion: 'v1', kind: 'K', name: 'xr', uid: file['fromControllerUID'], controller: true }],
        namespace: vector['fromNamespace'],
      }
      const id = `reference ${name}[${i}]`
      await report.attempt(id, async () => {
        const actual = await outcome(world, from, vector, /multi/i.test(name))
        report.compare(id, () => actual, expected(vector))
      })
    }
  }
  report.skip(
    "Go's pointer adapters have no counterpart",
    (file['valueAdapters'] ?? []).length + (file['fromFloat'] ?? []).length,
  )
}

/** Returns the expected result. After an error the response has no meaning and is not compared. */
function expected(vector: Vector): Vector {
  const { error, errorClass, reads } = vector
  if (error !== undefined) return { error, errorClass, reads }
  const answer =
    'resolvedValues' in vector
      ? { values: vector['resolvedValues'] ?? [], references: vector['resolvedReferences'] ?? [] }
      : { value: vector['resolvedValue'], reference: vector['resolvedReference'] ?? undefined }
  return { ...answer, reads }
}

async function outcome(world: World, from: Referrer, vector: Vector, many: boolean): Promise<Vector> {
  const target = { type: world.type, extract: extractor(undefined) }
  const { selector } = vector as { selector: never }
  try {
    const answer = many
      ? await resolveMany(world, from, target, {
          values: vector['currentValues'] ?? [],
          references: vector['references'] ?? [],
          selector,
        })
      : await resolveOne(world, from, target, {
          value: vector['currentValue'],
          reference: vector['reference'],
          selector,
        })
    return { ...answer, reads: world.reads }
  } catch (error) {
    if (!(error instanceof UnresolvedError)) throw error
    return { error: error.message, errorClass: error.why, reads: world.reads }
  }
}

class World {
  readonly reads: string[] = []
  readonly #objects: readonly KubeObject[]
  readonly #counts = { get: 0, list: 0 }

  constructor(
    readonly type: ResourceType,
    objects: readonly Vector[],
    private readonly faults: readonly Vector[] = [],
  ) {
    this.#objects = objects.map((object) => kubeObject(type, object))
  }

  async get<T extends KubeObject>(type: ResourceType, { name, namespace = '' }: ObjectKey): Promise<T> {
    this.reads.push(`get ${type.kind}/${namespace}/${name}`)
    this.#fault('get', name)
    const found = this.#objects.find(
      ({ metadata }) => metadata.name === name && (metadata.namespace ?? '') === namespace,
    )
    if (!found) throw notFound(type, name)
    return found as T
  }

  async list<T extends KubeObject>(type: ResourceType, { namespace = '', labelSelector = '' }: ListOptions = {}) {
    this.reads.push(`list ${type.kind} ns="${namespace}" labels="${labelSelector}"`)
    this.#fault('list', '')
    const wanted = labelSelector === '' ? [] : labelSelector.split(',').map((label) => label.split('='))
    const items = this.#objects.filter(
      ({ metadata }) =>
        (namespace === '' || metadata.namespace === namespace) &&
        wanted.every(([name, value]) => metadata.labels?.[name!] === value),
    )
    return { apiVersion: 'v1', kind: 'List', metadata: {}, items: items as unknown as readonly T[] }
  }

  #fault(op: 'get' | 'list', name: string): void {
    const nth = ++this.#counts[op]
    const fault = this.faults.find(
      (f) => f['op'] === op && nth >= f['nth'] && (f['times'] === -1 || nth < f['nth'] + (f['times'] ?? 1)),
    )
    if (fault)
      throw faultError(
        fault['error'],
        { ...this.type, resource: op === 'list' ? `${this.type.kind.toLowerCase()}lists` : this.type.resource },
        name,
      )
  }
}

/** Returns the error for a fault of a vector. */
export function faultError(error: string, type: { group: string; resource: string }, name: string): Error {
  const qualified = type.group ? `${type.resource}.${type.group}` : type.resource
  if (error === 'conflict') {
    return new StatusError(409, 'Conflict', `Operation cannot be fulfilled on ${qualified} "${name}": stale`)
  }
  if (error === 'internal') return new StatusError(500, 'InternalError', 'Internal error occurred: boom')
  if (error === 'notFound') return notFound(type, name)
  if (error === 'alreadyExists') return new StatusError(409, 'AlreadyExists', `${qualified} "${name}" already exists`)
  return new Error('boom')
}

/** Returns the Kubernetes object for an object of a vector. */
export function kubeObject(type: ResourceType, object: Vector): KubeObject {
  const { name, namespace, externalName, labels, controllerUID } = object
  return {
    apiVersion: `${type.group}/${type.version}`,
    kind: type.kind,
    metadata: {
      name,
      ...(namespace ? { namespace } : {}),
      uid: `uid-${namespace ?? ''}-${name}`,
      ...(labels ? { labels } : {}),
      ...(externalName ? { annotations: { [annotations.externalName]: externalName } } : {}),
      ...(controllerUID
        ? { ownerReferences: [{ apiVersion: 'v1', kind: 'K', name: 'o', uid: controllerUID, controller: true }] }
        : {}),
    },
  }
}
