import {
  apiVersionOf,
  badRequest,
  equal,
  fieldErrors,
  invalid,
  isObject,
  type KubeObject,
  StatusError,
  stringify,
} from '@crosstie/kube'
import {
  applyJsonPatch,
  applyMergePatch,
  managedFieldsFromScale,
  managedFieldsOfScale,
  type ReplicasPaths,
  scaleFieldManager,
} from '@crosstie/kube/patch'
import type { PatchType } from '../definitions/conventions.js'
import type { Engine } from '../serving/engine.js'
import type { Body, Request, WriteRequest } from '../serving/request.js'
import { get } from './get.js'
import { sameAsUrl } from './names.js'
import type { PatchBody } from './patch.js'
import { checkRevision } from './preconditions.js'
import { valueAt, withValueAt } from './scale-path.js'
import { modify } from './write-path.js'

/** GET of the scale subresource: autoscaling/v1 Scale. */
export async function getScale(engine: Engine, request: Request): Promise<KubeObject> {
  const { object } = await get(engine, request)
  return scaleOf(request, object)
}

/** PUT of the scale subresource. */
export async function updateScale(engine: Engine, request: WriteRequest, body: Body): Promise<KubeObject> {
  return await modifyScale(engine, request, () => body.value)
}

/** PATCH of the scale subresource. */
export async function patchScale(engine: Engine, request: WriteRequest, body: PatchBody): Promise<KubeObject> {
  const { type, value } = body
  return await modifyScale(
    engine,
    request,
    (scale) => {
      if (type === 'apply') return applyScale(engine, request, scale, body)
      return type === 'json' ? applyJsonPatch(scale, value as never) : applyMergePatch(scale, value)
    },
    type,
  )
}

const SCALE = 'autoscaling/v1'
const SCALE_KIND = { group: 'autoscaling', version: 'v1', kind: 'Scale' }

async function modifyScale(
  engine: Engine,
  request: WriteRequest,
  change: (scale: KubeObject) => unknown,
  patchType?: PatchType,
): Promise<KubeObject> {
  const { served, fieldManager } = request
  const { specReplicasPath } = served.version.subresources.scale!
  const paths = replicasPaths(served)
  const outcome = await modify(engine, request, async (live) => {
    const { managedFields } = live.metadata
    const scale = withManagedFields(scaleOf(request, live, true), managedFieldsOfScale(managedFields, paths))
    const updated = checkedScale(request, await change(scale), live, patchType !== undefined)
    const now = engine.clock.now()
    const made = { live: scale, updated, manager: fieldManager, version: SCALE, subresource: 'scale', now }
    const tracked = patchType === 'apply' ? updated : await scaleFieldManager.trackUpdate(made)
    const owners = managedFieldsFromScale(managedFields, tracked.metadata.managedFields, paths, served.apiVersion)
    const objectOf = ({ spec }: KubeObject) => {
      const { replicas = 0 } = (spec ?? {}) as { replicas?: number }
      return withManagedFields(withValueAt(live, specReplicasPath, replicas), owners)
    }
    return {
      object: objectOf(updated),
      ownershipTracked: true,
      admitted: {
        view: { kind: SCALE_KIND, complete: (mutated) => checkedScale(request, mutated, live, true) },
        object: tracked,
        old: scale,
        merge: objectOf,
        show: (object) => scaleOf(request, object, true),
      },
    }
  })
  return scaleOf(request, outcome.object)
}

/** Returns the Scale in a body as Go's decoder does. Throws 400 or 422. */
function checkedScale(request: WriteRequest, scale: unknown, live: KubeObject, patched: boolean): KubeObject {
  if (!isObject(scale)) throw badRequest('the body must be a Scale of autoscaling/v1')
  if (scale['kind'] !== 'Scale' || scale['apiVersion'] !== SCALE) {
    throw badRequest('no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:110"')
  }
  sameAsUrl(request, scale as unknown as KubeObject)
  checkRevision(request, scale as unknown as KubeObject, live, true)
  const replicas = isObject(scale['spec']) ? (scale['spec']['replicas'] ?? 0) : 0
  if (typeof replicas !== 'number') {
    const why = `json: cannot unmarshal ${typeof replicas} into Go struct field ScaleSpec.spec.replicas of type int32`
    if (!patched) throw badRequest(why)
    throw invalid({ group: '', kind: '' }, '', [fieldErrors.invalid('patch', stringify(scale), why)])
  }
  return { ...(scale as unknown as KubeObject), spec: replicas === 0 ? {} : { replicas } }
}

/**
 * kube-apiserver detects conflicts, but fails to convert the merged result to a Scale when it differs from the live
 * one.
 */
async function applyScale(
  engine: Engine,
  { fieldManager }: WriteRequest,
  live: KubeObject,
  { value, force }: PatchBody,
): Promise<KubeObject> {
  const { object } = await scaleFieldManager.applyPatch({
    live,
    applied: isObject(value) ? value : {},
    manager: fieldManager,
    force,
    version: SCALE,
    subresource: 'scale',
    now: engine.clock.now(),
  })
  if (equal(withManagedFields(object, undefined), withManagedFields(live, undefined))) return object
  const { namespace = '', name = '' } = (value as unknown as KubeObject).metadata ?? {}
  const why = `request to convert CR to an invalid group/version: ${SCALE}`
  const what = `failed to convert new object (${namespace}/${name}; ${SCALE}, Kind=Scale) to proper version`
  throw new StatusError(500, '', `${what}: ${why}`)
}

function withManagedFields(object: KubeObject, managedFields: KubeObject['metadata']['managedFields']): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata: managedFields ? { ...metadata, managedFields } : metadata }
}

function replicasPaths({ definition }: Request['served']): ReplicasPaths {
  const { group, versions, storageVersion } = definition
  const all = [...versions, ...(storageVersion ? [storageVersion] : [])]
  return Object.fromEntries(
    all.map(({ name, subresources }) => [apiVersionOf({ group, version: name }), subresources.scale?.specReplicasPath]),
  )
}

function scaleOf({ served }: Request, object: KubeObject, forWrite = false): KubeObject {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = served.version.subresources.scale!
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const replicas = valueAt(object, specReplicasPath)
  if (replicas === undefined && !forWrite) {
    const message = `the spec replicas field "${specReplicasPath}" does not exist`
    throw new StatusError(500, 'InternalError', `Internal error occurred: ${message}`, {
      details: { causes: [{ message }] },
    })
  }
  const selector = labelSelectorPath ? valueAt(object, labelSelectorPath) : undefined
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, ...(namespace ? { namespace } : {}), uid, resourceVersion, creationTimestamp },
    spec: replicas ? { replicas } : {},
    status: { replicas: valueAt(object, statusReplicasPath) ?? 0, ...(selector ? { selector } : {}) },
  }
}
