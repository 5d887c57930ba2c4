import { type Condition, type KubeObject, type ResourceType, timestamp } from '@crosstie/kube'
import { type Secret, secretType } from '../connection/publish.js'
import type { Observed } from '../definition/external.js'
import type { ManagedKind } from '../definition/managed.js'
import { s } from '../definition/schema.js'
import { listOf } from '../managed/policy/policy.js'
import { annotations, externalNameOf } from '../metadata/metadata.js'
import { conditions } from '../status/conditions.js'
import type { FakeApi } from '../testing/fakeapi.js'
import { faultError, kubeObject } from './reference.js'
import type { Vector } from './report.js'

/** The environment of a reconcile case, as described in the README of the vectors. */

/** The time at the start of a case. */
export const NOW = Date.UTC(2026, 0, 15, 12, 0, 0)

const group = 'oracle.example.org'
const types: Record<string, ResourceType> = {
  modern: { group, version: 'v1alpha1', kind: 'Widget', resource: 'widgets', namespaced: true },
  legacy: { group, version: 'v1alpha1', kind: 'ClusterWidget', resource: 'clusterwidgets', namespaced: false },
}

/** Returns the type of the managed resource of a case. */
export const typeOf = (c: Vector): ResourceType => types[c['kind']]!

/** Returns the key of the managed resource of a case. */
export const keyOf = (c: Vector) => (c['kind'] === 'modern' ? { namespace: 'ns', name: 'w' } : { name: 'w' })

const parametersOf = (type: ResourceType) =>
  s.object({
    region: s.optional(s.string()),
    size: s.optional(s.integer()),
    parentId: s.optional(
      s.reference(s.string(), { to: () => type, refField: 'parentRef', selectorField: 'parentSelector' }),
    ),
  }).node

/** Returns the kind of a case. It has no list, tags or tokens, so only a deterministic name can be found again. */
export function kindOf(c: Vector, external: ManagedKind['external']): ManagedKind {
  const options = (c['options'] ?? {}) as Vector
  const type = typeOf(c)
  const supported = options['supportedPolicies'] as string[][] | undefined
  const same = (a: readonly string[], b: readonly string[]) => listOf([...new Set(a)]) === listOf([...new Set(b)])
  return {
    type,
    classType: type,
    parameters: parametersOf(type),
    observation: s.object({ state: s.string() }).node,
    naming: options['noInitializers'] ? 'provider-assigned' : 'user-chosen',
    naturalKey: options['deterministicExternalName'] ?? false,
    idempotentCreate: false,
    token: false,
    tags: undefined,
    consistencySeconds: options['creationGracePeriodSeconds'] ?? 30,
    hasDeletionPolicy: c['kind'] === 'legacy',
    unmetered: false,
    refusePolicies: supported
      ? (names) =>
          supported.some((set) => same(set, names))
            ? undefined
            : `\`spec.managementPolicies\` is set to a value(${listOf(names)}) which is not supported. Check docs for supported policies`
      : undefined,
    providerConfig: undefined,
    external,
    crd: () => ({ apiVersion: 'v1', kind: 'None', metadata: {} }),
    classCrd: () => ({ apiVersion: 'v1', kind: 'None', metadata: {} }),
    page: () => '',
  }
}

/** Stores the objects of a case in the fake API. */
export function seed(api: FakeApi, c: Vector): void {
  if (!c['managedMissing']) api.seed(typeOf(c), managedOf(c))
  const references = c['references'] as Vector | undefined
  for (const other of references?.['others'] ?? []) {
    const namespaced = c['kind'] === 'modern' ? { namespace: 'ns', ...other } : other
    api.seed(typeOf(c), kubeObject(typeOf(c), namespaced))
  }
  const secret = c['existingSecret'] as Vector | undefined
  if (!secret) return
  const owner = secret['controllerUID']
  seedSecret(api, { ...secret, owners: owner ? [{ ...ownerOf(c), uid: owner }] : [] })
}

/** Stores the connection Secret of a vector, whose data is not encoded. */
export function seedSecret(api: FakeApi, { type, data, owners }: Vector): void {
  const entries = Object.entries((data ?? {}) as Record<string, string>)
  const object: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'conn', namespace: 'ns', ...(owners.length > 0 ? { ownerReferences: owners } : {}) },
    ...(type === undefined ? {} : { type }),
    data: Object.fromEntries(entries.map(([name, value]) => [name, Buffer.from(value).toString('base64')])),
  }
  api.seed(secretType, object)
}

const ownerOf = (c: Vector) => ({
  apiVersion: `${group}/v1alpha1`,
  kind: typeOf(c).kind,
  name: 'w',
  controller: true,
  blockOwnerDeletion: true,
})

function managedOf(c: Vector): KubeObject {
  const ago = (seconds: number | undefined) => (seconds === undefined ? undefined : timestamp(NOW - seconds * 1000))
  const notes: Record<string, string | undefined> = {
    ...c['annotations'],
    [annotations.paused]: c['pausedAnnotation'],
    [annotations.externalName]: c['externalName'] ?? undefined,
    [annotations.createPending]: ago(c['createPendingAge']),
    [annotations.createSucceeded]: ago(c['createSucceededAge']),
    [annotations.createFailed]: ago(c['createFailedAge']),
  }
  const references = c['references'] as Vector | undefined
  const conditionsBefore = ((c['conditions'] ?? []) as Condition[]).map((condition) => ({
    ...condition,
    lastTransitionTime: timestamp(NOW - 3_600_000),
  }))
  const status = {
    ...(c['atProviderState'] === undefined ? {} : { atProvider: { state: c['atProviderState'] } }),
    ...(conditionsBefore.length > 0 ? { conditions: conditionsBefore } : {}),
    ...(c['lastHandledReconcileAt'] === undefined ? {} : { lastHandledReconcileAt: c['lastHandledReconcileAt'] }),
  }
  return {
    apiVersion: `${group}/v1alpha1`,
    kind: typeOf(c).kind,
    metadata: {
      ...keyOf(c),
      uid: 'uid-w',
      generation: 3,
      creationTimestamp: timestamp(NOW - 7_200_000),
      ...(c['deleted'] ? { deletionTimestamp: timestamp(NOW - 60_000) } : {}),
      finalizers: c['finalizers'],
      annotations: Object.fromEntries(Object.entries(notes).filter(([, value]) => value !== undefined)) as Record<
        string,
        string
      >,
      ...(references
        ? { ownerReferences: [{ apiVersion: 'v1', kind: 'XR', name: 'xr', uid: 'uid-xr', controller: true }] }
        : {}),
    },
    spec: {
      ...(c['policies'] === null || c['policies'] === undefined ? {} : { managementPolicies: c['policies'] }),
      ...(c['deletionPolicy'] ? { deletionPolicy: c['deletionPolicy'] } : {}),
      ...(c['writesConnectionSecret']
        ? { writeConnectionSecretToRef: { name: 'conn', ...(c['kind'] === 'legacy' ? { namespace: 'ns' } : {}) } }
        : {}),
      forProvider: {
        region: 'r1',
        ...(references?.['currentValue'] ? { parentId: references['currentValue'] } : {}),
        ...(references?.['ref'] ? { parentRef: references['ref'] } : {}),
        ...(references?.['selector'] ? { parentSelector: references['selector'] } : {}),
      },
    },
    ...(Object.keys(status).length > 0 ? { status } : {}),
  }
}

/** The scripted external API of a round. It records all calls. */
export class ScriptedExternal {
  calls: Vector[] = []
  script: Vector = {}

  constructor(private readonly c: Vector) {}

  readonly external = {
    connect: ({ managed }: { managed: KubeObject }) => {
      this.#call('Connect', managed, this.script['connectError'])
      return { [Symbol.asyncDispose]: () => this.#disconnect() }
    },
    observe: async ({ managed }: { managed: KubeObject }): Promise<Observed> => {
      const { script } = this
      this.#call('Observe', managed, script['observeError'])
      const details = script['observeDetails'] ? { connection: script['observeDetails'] } : {}
      if (!script['exists']) return { exists: false, ...details }
      const { forProvider = {} } = managed['spec'] as { forProvider?: Vector }
      const { region, parentId, size } = forProvider
      const found = { region, parentId, size: size ?? (script['lateInitialized'] ? 7 : undefined) }
      const ready = script['observeSetsReady'] as string | undefined
      return {
        exists: true,
        atProvider: { state: 'seen', ...(JSON.parse(JSON.stringify(found)) as object) },
        upToDate: script['upToDate'] ?? false,
        ...(ready ? { ready: readyCondition(ready) } : {}),
        ...details,
      }
    },
    create: async ({ managed }: { managed: KubeObject }) => {
      const { script } = this
      this.#call('Create', managed, script['createError'], script['createSetsExternalName'])
      return { externalName: script['createSetsExternalName'], connection: script['createDetails'] ?? {} }
    },
    update: async ({ managed }: { managed: KubeObject }) => {
      this.#call('Update', managed, this.script['updateError'])
      return { connection: this.script['updateDetails'] ?? {} }
    },
    delete: async ({ managed }: { managed: KubeObject }) => {
      this.#call('Delete', managed, this.script['deleteError'])
    },
  }

  #call(call: string, managed: KubeObject, fault: string | undefined, externalName?: string): void {
    const defaulted = this.c['options']?.['noInitializers'] ? '' : managed.metadata.name!
    const error = fault === undefined ? undefined : faultError(fault, { group: '', resource: 'things' }, 'thing')
    this.calls.push({
      call,
      externalName: externalNameOf(managed) || defaulted,
      ...(error ? { error: error.message } : {}),
    })
    if (error) throw externalName === undefined ? error : Object.assign(error, { externalName })
  }

  async #disconnect(): Promise<void> {
    const fault = this.script['disconnectError']
    const error = fault === undefined ? undefined : faultError(fault, { group: '', resource: 'things' }, 'thing')
    if (this.c['options']?.['connectorDisconnects']) this.calls.push({ call: 'ConnectorDisconnect' })
    this.calls.push({ call: 'Disconnect', ...(error ? { error: error.message } : {}) })
    if (error) throw error
  }
}

/** Returns the condition for the name of its constructor, such as `Unavailable`. */
export function readyCondition(name: string): Condition {
  const [, base, argument] = /^(\w+)(?:\((.*)\))?$/.exec(name) ?? []
  const key = `${base![0]!.toLowerCase()}${base!.slice(1)}` as keyof typeof conditions
  return conditions[key](argument ?? '')
}
