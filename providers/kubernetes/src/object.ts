import { type Condition, conditionsOf, isNotFound, type JsonObject, type KubeObject } from '@crosstie/kube'
import {
  absent,
  type ConnectContext,
  type ConnectionDetails,
  type CountChange,
  defineManaged,
  type ExternalCall,
  leaveAlone,
  type ObserveCall,
  type Observed,
  present,
} from '@crosstie/resources/provider'
import { apply, differences, initManagerOf, managerOf, type Wanted } from './apply.js'
import type { Target } from './cluster.js'
import { Clusters, type Opened, providerConfig } from './clusters.js'
import { differencesBetween } from './difference.js'
import { told, withoutTexts } from './errors.js'
import { applicable, identityOf, refuseRetarget, secretTexts, shown } from './manifest.js'
import { observation, type Parameters, parameters } from './parameters.js'
import { readinessOf } from './readiness.js'
import { type Filled, fill, type Named, nameOf, targetOf } from './references.js'
import { textAt } from './values.js'

/** The state of one reconciliation of an Object. */
export interface Session {
  readonly clusters: Clusters
  readonly target: Opened
  readonly follow: ConnectContext['follow']
  /** Called before each request that changes something. */
  readonly changing: CountChange
  /** The result of observe, for the operations that follow. */
  seen?: { readonly wanted: Wanted; readonly live: KubeObject | undefined }
}

type ObjectCall = ExternalCall<Partial<Parameters>, Session>

/** The managed kind Object. */
export const object = defineManaged({
  group: 'kubernetes.crossplane.io',
  version: 'v1alpha2',
  alsoServed: ['v1alpha1'],
  kind: 'Object',
  doc: 'An object of any kind in any Kubernetes cluster, managed by server-side apply, or observed.',
  categories: ['crossplane', 'managed', 'kubernetes'],
  parameters,
  observation,
  naming: 'user-chosen',
  idempotentCreate: true,
  // Field managers of server-side apply separate several Objects for one target.
  shared: true,
  consistencySeconds: 0,
  providerConfig,
  // Kubernetes has its own priority and fairness, and most observations are answered from memory.
  unmetered: true,
  // For the kind of the manifest. Without list and watch in the namespace, objects are read individually.
  permissions: {
    Observe: ['get', 'list', 'watch'],
    Create: ['create', 'patch'],
    Update: ['patch'],
    Delete: ['delete'],
  },

  async connect(context): Promise<Session> {
    const clusters = Clusters.of(context.api)
    const changing = context.trackChanges()
    return { clusters, target: await clusters.reach(context), follow: context.follow, changing }
  },

  async observe(call) {
    const { client: session, managed, signal } = call
    const target = await targetFor(call)
    const related = managed.metadata.deletionTimestamp ? [] : await relatedTo(call)
    listen(session, [{ opened: session.target, target }, ...related])
    const { cluster } = session.target
    const live = await told('read the object', [], () => cluster.read(target, signal))
    const wanted = { ...(await filledIn(call, target)), target, manager: managerOf(managed) }
    if (!live) {
      session.seen = { wanted, live }
      return absent
    }
    const manifest = leavingAlone(call.ignoreChanges, wanted.manifest, live)
    session.seen = { wanted: { ...wanted, manifest }, live }
    return await sightOf(call, session.seen.wanted, live)
  },

  async create(call) {
    const { client: session, managed, signal } = call
    const { cluster } = session.target
    const { wanted } = session.seen!
    const { target } = wanted
    const options = { takeOver: call.forProvider.onConflict === 'TakeOver', ours: [initManagerOf(managed)], signal }
    const { initProvider } = managed['spec'] as { initProvider?: { manifest?: JsonObject } }
    session.changing()
    await told('apply the manifest', secretsOf(wanted), async () => {
      if (initProvider?.manifest) {
        // Applied by another manager: fields that are not in forProvider are kept by the next apply.
        const merged = { ...(await filledIn(call, target)), target, manager: initManagerOf(managed) }
        await apply(cluster, merged, { ...options, ours: [managerOf(managed)] })
      }
      await apply(cluster, wanted, options)
    })
    return { externalName: target.key.name }
  },

  async update({ client: session, managed, forProvider, signal }) {
    const { wanted } = session.seen!
    const options = { takeOver: forProvider.onConflict === 'TakeOver', ours: [initManagerOf(managed)], signal }
    session.changing()
    await told('apply the manifest', secretsOf(wanted), () => apply(session.target.cluster, wanted, options))
  },

  async delete(call) {
    const { client: session, forProvider, signal } = call
    const { cluster } = session.target
    const target = await targetFor(call)
    const live = session.seen ? session.seen.live : await cluster.read(target, signal)
    if (!live) return
    session.changing()
    await told('delete the object', [], async () => {
      try {
        const uid = live.metadata.uid
        const gone = await cluster.client.delete(target.type, target.key, {
          propagationPolicy: forProvider.deletionPropagation ?? 'Background',
          // An object that was deleted and created again is not ours.
          ...(uid ? { preconditions: { uid } } : {}),
          signal,
        })
        cluster.wrote(target, gone?.metadata.deletionTimestamp ? gone : undefined)
      } catch (error) {
        if (!isNotFound(error)) throw error
        cluster.wrote(target, undefined)
      }
    })
  },
})

async function targetFor({
  client: { target },
  managed,
  externalName,
  forProvider,
  signal,
}: ObjectCall): Promise<Target> {
  const identity = identityOf(forProvider.manifest, managed, externalName)
  refuseRetarget(identity, managed)
  const { apiVersion, kind, key } = identity
  return await told('find the kind of the manifest', [], () =>
    targetOf(target.cluster, { apiVersion, kind, ...key }, signal),
  )
}

interface Related {
  readonly opened: Opened
  readonly target: Target
}

/** Returns the other objects that the Object depends on. */
async function relatedTo({ client: session, forProvider, signal }: ObjectCall): Promise<readonly Related[]> {
  const { own } = session.clusters
  const referred = (forProvider.references ?? []).flatMap(
    ({ dependsOn, patchesFrom }) => patchesFrom ?? dependsOn ?? [],
  )
  const connections = (forProvider.connectionDetails ?? []).flatMap(({ apiVersion, kind, name, namespace }) =>
    apiVersion && kind && name ? [{ apiVersion, kind, name, ...(namespace ? { namespace } : {}) }] : [],
  )
  const find = async (opened: Opened, named: Named) => ({
    opened,
    target: await targetOf(opened.cluster, named, signal),
  })
  return await told('find what the Object refers to', [], () =>
    Promise.all([
      ...referred.map((named) => find(own, named)),
      ...connections.map((named) => find(session.target, named)),
    ]),
  )
}

/** Triggers a reconciliation when a dependency changes. */
function listen({ clusters, target, follow }: Session, related: readonly Related[]): void {
  const byTopic = new Map(related.map((each) => [topicOf(each), each]))
  follow([`cluster ${target.id}`, ...byTopic.keys()], (topic, changed) => {
    const each = byTopic.get(topic)
    return each ? each.opened.cluster.watch(each.target, changed) : clusters.hold(target.id)
  })
}

function topicOf({ opened, target: { type, key } }: Related): string {
  return JSON.stringify([opened.id, type.group, type.version, type.resource, key.namespace, key.name])
}

/** Returns the manifest to apply. References of a deleted Object are not resolved. */
async function filledIn(
  { client: session, managed, forProvider, signal }: ObjectCall,
  { key }: Target,
): Promise<Filled> {
  const manifest = forProvider.manifest as JsonObject
  const none = { manifest: applicable(manifest, key), hidden: [], secrets: [] }
  if (managed.metadata.deletionTimestamp) return none
  const filled = await told('fill in the manifest', [], () =>
    fill(session.clusters.own.cluster, manifest, forProvider.references ?? [], signal),
  )
  return { ...filled, manifest: applicable(filled.manifest, key) }
}

/** Returns the manifest with the current values of ignored fields. */
function leavingAlone(paths: readonly string[] = [], manifest: JsonObject, live: KubeObject): JsonObject {
  if (paths.length === 0) return manifest
  return leaveAlone({ manifest }, paths, { manifest: live })['manifest'] as JsonObject
}

const secretsOf = ({ manifest, secrets }: Wanted): readonly string[] => [...secrets, ...secretTexts(manifest)]

/** Matches names of connection details that must not be shown elsewhere. */
const OPENS = /passw|secret|token|credential|private|key$/i

async function sightOf(
  call: ObserveCall<Partial<Parameters>, Session>,
  wanted: Wanted,
  live: KubeObject,
): Promise<Observed<{ manifest: JsonObject }>> {
  const { client: session, managed, forProvider, signal } = call
  const { cluster } = session.target
  const deleted = managed.metadata.deletionTimestamp !== undefined
  const compare = () =>
    mayUpdate(managed)
      ? differences(cluster, wanted, live, isSettled(managed), signal)
      : differencesBetween(wanted.manifest, live, wanted.hidden, 'wanted')
  const found = deleted ? [] : await told('compare with the manifest', secretsOf(wanted), async () => await compare())
  const { details, missing } = deleted ? { details: {}, missing: [] } : await connectionOf(call, live)
  const opening = Object.entries(details).flatMap(([key, value]) => (value && OPENS.test(key) ? [value] : []))
  return present({
    externalName: wanted.target.key.name,
    atProvider: { manifest: withoutTexts(shown(live, wanted.hidden), [...wanted.secrets, ...opening]) },
    ready: ready(live, forProvider.readiness, missing),
    connection: details,
    differences: found,
  })
}

function ready(live: KubeObject, readiness: Parameters['readiness'], missing: readonly string[]): true | Condition {
  const said = readinessOf(live, readiness)
  if (said !== true || missing.length === 0) return said
  const message = `connection details are not there yet: ${missing.join('; ')}`
  return { type: 'Ready', status: 'False', reason: 'Unavailable', message }
}

async function connectionOf(
  { client: session, forProvider, signal }: ObjectCall,
  live: KubeObject,
): Promise<{ readonly details: ConnectionDetails; readonly missing: readonly string[] }> {
  const { cluster } = session.target
  const details: Record<string, string> = {}
  const missing: string[] = []
  for (const { apiVersion, kind, name, namespace, fieldPath, toConnectionSecretKey } of forProvider.connectionDetails ??
    []) {
    const named =
      apiVersion && kind && name ? { apiVersion, kind, name, ...(namespace ? { namespace } : {}) } : undefined
    const from = await told(`read the connection detail ${toConnectionSecretKey}`, [], async () =>
      named ? await cluster.read(await targetOf(cluster, named, signal), signal) : live,
    )
    const value = from && textAt(from, fieldPath)
    if (value === undefined) missing.push(`${named ? nameOf(named) : 'the object'} has no ${fieldPath}`)
    else details[toConnectionSecretKey] = value
  }
  return { details, missing }
}

const policiesOf = (managed: KubeObject): readonly string[] =>
  (managed['spec'] as { managementPolicies?: readonly string[] }).managementPolicies ?? ['*']

const mayUpdate = (managed: KubeObject): boolean =>
  policiesOf(managed).some((policy) => policy === '*' || policy === 'Update')

/** Reports whether this generation of the Object was in sync and ready at the last report. */
function isSettled(managed: KubeObject): boolean {
  const synced = conditionsOf(managed).find(({ type }) => type === 'Synced')
  return synced?.status === 'True' && synced.observedGeneration === managed.metadata.generation
}
