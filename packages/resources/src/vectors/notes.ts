import { apiVersionOf, conditionsOf, equal, type KubeObject } from '@crosstie/kube'
import { reconcile } from '../managed/reconcile.js'
import { kindRuntimeFor } from '../managed/runtime.js'
import { annotations, externalNameOf, finalizer } from '../metadata/metadata.js'
import { FakeApi, type FakeRequest } from '../testing/fakeapi.js'
import { faultError } from './reference.js'
import type { Report, Vector } from './report.js'
import { kindOf, NOW, ScriptedExternal, typeOf } from './world.js'

/**
 * Annotations that upstream writes with separate helpers. Our reconciler writes them itself, so each vector runs one
 * reconciliation in which only that write can fail.
 */

interface Told {
  readonly api: FakeApi
  readonly stored: KubeObject
  readonly external: ScriptedExternal
  /** The error of the reconciliation, from the condition Synced. */
  readonly error: string | undefined
}

async function turnOf(c: Vector, name: string, notes: Vector, before: (request: FakeRequest) => void): Promise<Told> {
  const type = typeOf(c)
  const key = { namespace: 'ns', name }
  const external = new ScriptedExternal(c)
  external.script = c['script']
  const api = new FakeApi({ now: () => NOW, before })
  // An object with the finalizer but without a name would have lost the name of its external resource.
  const held = c['script']?.exists ? { finalizers: [finalizer] } : {}
  api.seed(type, {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: { ...key, uid: 'uid-w', generation: 1, ...held, annotations: notes },
    spec: { managementPolicies: ['*'], forProvider: {} },
  })
  const runtime = kindRuntimeFor(kindOf(c, external.external), { client: api, clock: { now: () => NOW } })
  await reconcile(runtime, key, AbortSignal.timeout(60_000))
  const stored = api.peek(type, key)!
  const synced = conditionsOf(stored).find((condition) => condition.type === 'Synced' && condition.status === 'False')
  return { api, stored, external, error: synced?.message }
}

/** Returns the annotations that a patch of the object writes; undefined for other requests. */
const noting = ({ verb, after }: FakeRequest): Readonly<Record<string, string>> | undefined =>
  verb === 'patch' ? (after?.metadata.annotations ?? {}) : undefined

/** Returns the reported error. A conflict is not reported, since the next reconciliation retries. */
const told = ({ error, isConflict }: Vector): string | undefined => (isConflict ? undefined : error)

/** Runs a vector of nameAsExternalName. The name of the object becomes its external name, unless it has one. */
export async function runNameAsExternalName(id: string, vector: Vector, report: Report): Promise<void> {
  const c = { kind: 'modern', script: { exists: true, upToDate: true } }
  const writes: Vector[] = []
  const { stored, external, error } = await turnOf(c, vector['name'], vector['annotations'] ?? {}, (request) => {
    const notes = noting(request)
    if (!notes) return
    const fault = vector['updateError'] as string | undefined
    const annotationsSet = { [annotations.externalName]: notes[annotations.externalName] }
    writes.push({ annotationsSet, target: 'managed', verb: 'update', ...(fault ? { error: fault } : {}) })
    if (fault) throw faultError(fault, request.type, request.name)
  })
  const used = external.calls.find(({ call }) => call === 'Observe')?.['externalName']
  const expected = vector['error'] ? (vector['annotations']?.[annotations.externalName] ?? '') : used
  report.compare(id, () => ({ used, writes, error, stored: externalNameOf(stored) }), {
    used: vector['externalNameInMemory'],
    writes: vector['kubeWrites'],
    error: told(vector),
    stored: expected,
  })
}

const ANNOTATIONS_ONLY = 'of what a create answered only the notes are written, and what others wrote stays'

/**
 * Runs a vector of criticalAnnotations. The write of the result of a create is retried. The caller of the upstream
 * helper also changed the rest of the object in memory. Upstream writes that depending on how the write failed; we
 * never do.
 */
export async function runCriticalAnnotations(id: string, vector: Vector, report: Report): Promise<void> {
  const name = vector['inMemoryAnnotations'][annotations.externalName]
  const c = { kind: 'modern', options: { noInitializers: true }, script: { createSetsExternalName: name } }
  const held = { both: 'server', keep: '1' }
  const faults = ((vector['kubeFaults'] ?? []) as Vector[]).filter(({ op }) => op === 'update')
  let attempts = 0
  const { stored, error } = await turnOf(c, 'w', held, (request) => {
    if (!noting(request)?.[annotations.createSucceeded]) return
    attempts++
    const { error: fault } =
      faults.find(({ nth, times = 1 }) => attempts >= nth && (times === -1 || attempts < nth + times)) ?? {}
    if (fault) throw faultError(fault, request.type, request.name)
  })
  const isConflict = faults.some((fault) => fault['error'] === 'conflict')
  const prefix = 'cannot update managed resource annotations: '
  const { both, keep, [annotations.externalName]: noted } = stored.metadata.annotations ?? {}
  const actual = { attempts, error, noted, both, keep }
  const expected = {
    attempts: vector['kubeWriteAttempts'],
    error: told({ error: vector['error'] && `${prefix}${vector['error']}`, isConflict }),
    noted: vector['stored'].annotations[annotations.externalName],
    ...held,
  }
  const others = { both: vector['stored'].annotations.both, keep: vector['stored'].annotations.keep }
  if (equal(actual, expected) && !equal(others, held)) report.pass([ANNOTATIONS_ONLY])
  else report.compare(id, () => actual, expected)
}
