import type { KubeObject } from '@crosstie/kube'
import { publishConnection, type Secret, secretType } from '../connection/publish.js'
import { s } from '../definition/schema.js'
import { emptyFields } from '../managed/late-initialization.js'
import {
  annotations,
  createdWithin,
  createHistoryOf,
  desiredStateChanged,
  externalNameOf,
  externalTags,
  haveSameController,
  isPaused,
  newReconcileRequest,
  parseTime,
  positiveDuration,
  withControllerReference,
  withFinalizer,
  withoutFinalizer,
} from '../metadata/metadata.js'
import { FakeApi } from '../testing/fakeapi.js'
import { runCriticalAnnotations, runNameAsExternalName } from './notes.js'
import { faultError } from './reference.js'
import type { Report, Vector } from './report.js'
import { typeOf } from './world.js'

/** Runs externalname.json, which covers the metadata of objects. */
export async function runExternalNames(file: Vector, report: Report): Promise<void> {
  for (const [list, run] of Object.entries(suites)) {
    for (const [i, vector] of ((file[list] ?? []) as Vector[]).entries()) {
      report.compare(`externalname ${list}[${i}]`, () => ({ ...vector, ...run(vector) }), vector)
    }
  }
  runDesiredStateChanged(file['desiredStateChanged'] ?? [], report)
  for (const [list, run] of Object.entries(turns)) {
    for (const [i, vector] of ((file[list] ?? []) as Vector[]).entries()) {
      const id = `externalname ${list}[${i}]`
      await report.attempt(id, () => run(id, vector, report))
    }
  }
  if (file['backoffSeconds']) report.skip('the back-off is the work queue’s: it begins at 0.2 seconds, not at one')
}

/** The lists that require a reconciliation or a write. */
const turns: Record<string, (id: string, vector: Vector, report: Report) => Promise<void>> = {
  nameAsExternalName: runNameAsExternalName,
  publishConnection: runPublish,
  criticalAnnotations: runCriticalAnnotations,
}

const object = (notes: Readonly<Record<string, string>> | null | undefined): KubeObject => ({
  apiVersion: 'v1',
  kind: 'K',
  metadata: { name: 'w', ...(notes ? { annotations: notes } : {}) },
})

const owners = (list: readonly Vector[]) =>
  list.map(({ uid, controller }) => ({ apiVersion: 'v1', kind: 'K', name: `n-${uid}`, uid, controller }))

const noted = (name: string, value: string | null) => object(value === null ? null : { [name]: value })

const suites: Record<string, (vector: Vector) => Vector> = {
  externalName: ({ annotations: notes, set }) => {
    const after = object({ ...notes, [annotations.externalName]: set })
    return {
      get: externalNameOf(object(notes)),
      ...(set === null ? {} : { annotationsAfterSet: after.metadata.annotations, getAfterSet: externalNameOf(after) }),
    }
  },
  createIncomplete: ({ pending, succeeded, failed }) => ({
    incomplete: createHistoryOf(
      object({
        [annotations.createPending]: pending,
        [annotations.createSucceeded]: succeeded,
        [annotations.createFailed]: failed,
      }),
    ).incomplete,
  }),
  createSucceededDuring: ({ succeededAgeSeconds: age, periodSeconds }) => {
    const now = Date.UTC(2026, 0, 1)
    const time = age === null ? '' : new Date(now - age * 1000).toISOString()
    return {
      during: createdWithin(createHistoryOf(noted(annotations.createSucceeded, time)), periodSeconds * 1000, now),
    }
  },
  createAnnotationParse: ({ value }) => {
    const time = parseTime(value)
    return { zero: time === undefined, unixMilli: time }
  },
  createAnnotationFormat: ({ annotations: notes }) => ({
    getPendingUnix: parseTime(notes[annotations.createPending])! / 1000,
  }),
  paused: ({ value }) => ({ paused: isPaused(noted(annotations.paused, value)) }),
  pollInterval: ({ value, nanoseconds }) => {
    const duration = positiveDuration(value ?? '')
    const same = Number(duration ?? 0n) === nanoseconds
    return { ok: duration !== undefined, nanoseconds: same ? nanoseconds : Number(duration) }
  },
  reconcileRequest: ({ value }) => {
    const token = newReconcileRequest(noted(annotations.reconcileRequestedAt, value))
    return { ok: token !== undefined, token: token ?? '' }
  },
  finalizers: ({ finalizers, removePanics }) => ({
    exists: (finalizers ?? []).includes('a'),
    afterAdd: withFinalizer(finalizers ?? [], 'a'),
    // Upstream panics if a finalizer is listed twice. We remove both.
    ...(removePanics ? {} : { afterRemove: withoutFinalizer(finalizers ?? [], 'a') }),
  }),
  haveSameController: ({ a, b }) => ({ same: haveSameController(owners(a), owners(b)) }),
  addControllerReference: ({ owners: held, add }) => {
    try {
      const after = withControllerReference(owners(held), owners([add])[0]!, 'w')
      return { after: after.map(({ uid, controller }) => ({ uid, controller })) }
    } catch (error) {
      return { error: (error as Error).message }
    }
  },
  lateInit: ({ original, from }) => {
    const node = s.object({ value: s.optional(s.json()) }).node
    const fill = emptyFields(
      node,
      original === null ? {} : { value: original },
      undefined,
      from === null ? {} : { value: from },
    )
    return { changed: 'value' in fill, result: 'value' in fill ? fill['value'] : original }
  },
  externalTags: ({ kind, providerConfig }) => {
    const type = typeOf({ kind })
    const managed: KubeObject = {
      apiVersion: `${type.group}/${type.version}`,
      kind: type.kind,
      metadata: { name: 'w', ...(type.namespaced ? { namespace: 'ns' } : {}) },
      spec: { providerConfigRef: providerConfig ?? undefined },
    }
    return { tags: externalTags(managed, type.group) }
  },
}

/** Runs the vectors about changes of an object that trigger a reconciliation. */
function runDesiredStateChanged(vectors: readonly Vector[], report: Report): void {
  const notes = { [annotations.createPending]: 't', other: 'x' }
  const before: KubeObject = {
    ...object(notes),
    metadata: { name: 'w', generation: 1, resourceVersion: '1', labels: { l: '1' }, annotations: notes },
    spec: { a: 1 },
    status: {},
  }
  const { metadata } = before
  const noting = (more: Record<string, string>) => ({
    ...before,
    metadata: { ...metadata, annotations: { ...notes, ...more } },
  })
  const without = (name: string) => {
    const { [name as keyof typeof notes]: _, ...rest } = notes
    return { ...before, metadata: { ...metadata, annotations: rest as Record<string, string> } }
  }
  const changes: Record<string, KubeObject> = {
    nothing: before,
    'spec (generation)': { ...before, spec: { a: 2 }, metadata: { ...metadata, generation: 2 } },
    'spec without generation': { ...before, spec: { a: 2 } },
    status: { ...before, status: { x: 1 } },
    resourceVersion: { ...before, metadata: { ...metadata, resourceVersion: '2' } },
    label: { ...before, metadata: { ...metadata, labels: { l: '2' } } },
    finalizers: { ...before, metadata: { ...metadata, finalizers: ['f'] } },
    ownerReferences: { ...before, metadata: { ...metadata, ownerReferences: [] } },
    'deletionTimestamp and generation': { ...before, metadata: { ...metadata, generation: 2, deletionTimestamp: 't' } },
    'deletionTimestamp only': { ...before, metadata: { ...metadata, deletionTimestamp: 't' } },
    'annotation external-create-pending removed': without(annotations.createPending),
    'other annotation removed': without('other'),
    'other annotation': noting({ other: 'y' }),
  }
  for (const { change, reconciles } of vectors as { change: string; reconciles: boolean }[]) {
    const named = /^annotation ([a-z-]+)$/.exec(change)?.[1]
    const after = changes[change] ?? (named ? noting({ [`crossplane.io/${named}`]: 'new' }) : undefined)
    const actual = after && desiredStateChanged(before, after)
    const says = 'taking the pending note away, as users are told to, wakes the reconciler'
    if (change.endsWith('pending removed') && actual === true) report.pass([says])
    else report.compare(`externalname desiredStateChanged ${change}`, () => actual, reconciles)
  }
}

async function runPublish(id: string, vector: Vector, report: Report): Promise<void> {
  if (!vector['wantsSecret']) return report.pass()
  const counts = new Map<string, number>()
  const api = new FakeApi({
    before: ({ verb, type, name }) => {
      const nth = (counts.get(verb) ?? 0) + 1
      counts.set(verb, nth)
      const fault = ((vector['kubeFaults'] ?? []) as Vector[]).find(
        (f) => f['op'] === verb && nth >= f['nth'] && (f['times'] === -1 || nth < f['nth'] + (f['times'] ?? 1)),
      )
      if (fault) throw faultError(fault['error'], type, name)
    },
  })
  const type = typeOf(vector)
  const owner: KubeObject = {
    apiVersion: `${type.group}/${type.version}`,
    kind: type.kind,
    metadata: { name: 'w', uid: 'uid-w' },
  }
  const own = { apiVersion: owner.apiVersion, kind: type.kind, name: 'w', controller: true, blockOwnerDeletion: true }
  const existing = vector['existing'] as Vector | null
  if (existing) api.seed(secretType, existingSecret(existing, own))
  let error: string | undefined
  try {
    await publishConnection(api, owner, { name: 'conn', namespace: 'ns' }, vector['details'] ?? {})
  } catch (failed) {
    error = (failed as Error).message
  }
  const swallowed =
    (vector['kubeWrites'] as Vector[]).some((w) => w['verb'] === 'patch' && w['error']) && !vector['error']
  const data = secretData(api)
  if (
    swallowed &&
    (error || Object.entries(vector['details'] ?? {}).every(([name, value]) => data?.[name] === value))
  ) {
    return report.pass(['a failed write of the secret is tried again, and told of'])
  }
  const held = Object.entries((vector['details'] ?? {}) as Vector).every(([name, value]) => data?.[name] === value)
  if (vector['error'] && vector['kubeFaults'] && !vector['notControllable'] && error === undefined && held) {
    return report.pass(['a request that is not needed is not made, so it cannot fail'])
  }
  report.compare(id, () => ({ error, data }), { error: vector['error'], data: vector['secretAfter']?.data })
}

function existingSecret(
  existing: Vector,
  owner: Omit<NonNullable<KubeObject['metadata']['ownerReferences']>[number], 'uid'>,
): Secret {
  const data = Object.entries((existing['data'] ?? {}) as Record<string, string>)
  const uid = existing['controllerUID']
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'conn', namespace: 'ns', ...(uid ? { ownerReferences: [{ ...owner, uid }] } : {}) },
    ...(existing['type'] === undefined ? {} : { type: existing['type'] }),
    data: Object.fromEntries(data.map(([name, value]) => [name, Buffer.from(value).toString('base64')])),
  }
}

function secretData(api: FakeApi): Record<string, string> | undefined {
  const secret = api.peek(secretType, { namespace: 'ns', name: 'conn' }) as Secret | undefined
  if (!secret) return undefined
  return Object.fromEntries(Object.entries(secret.data ?? {}).map(([k, v]) => [k, Buffer.from(v, 'base64').toString()]))
}
