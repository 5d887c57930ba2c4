import { badRequest, isObject, type KubeObject, StatusError } from '@crosstie/kube'
import { applyJsonPatch, applyMergePatch } from '@crosstie/kube/patch'
import type { Engine } from '../engine.js'
import { get } from './get.js'
import { sameAsUrl } from './names.js'
import type { PatchBody } from './patch.js'
import type { Body, Request, WriteRequest } from './request.js'
import { valueAt, withValueAt } from './scale-path.js'
import { checkRevision, modify } from './update.js'

/** autoscaling/v1 Scale: the replicas of any kind that says where it keeps them. */
export async function getScale(engine: Engine, request: Request): Promise<KubeObject> {
  const { object } = await get(engine, request)
  return scaleOf(request, object)
}

export async function updateScale(engine: Engine, request: WriteRequest, body: Body): Promise<KubeObject> {
  return await modifyScale(engine, request, () => body.value)
}

export async function patchScale(engine: Engine, request: WriteRequest, body: PatchBody): Promise<KubeObject> {
  return await modifyScale(engine, request, (scale) => {
    if (body.type === 'json') return applyJsonPatch(scale, body.value as never)
    return applyMergePatch(scale, body.value)
  })
}

async function modifyScale(
  engine: Engine,
  request: WriteRequest,
  change: (scale: KubeObject) => unknown,
): Promise<KubeObject> {
  const { specReplicasPath } = request.served.version.subresources.scale!
  const outcome = await modify(engine, request, (live) => {
    const scale = change(scaleOf(request, live, true))
    if (!isObject(scale) || !isObject(scale['metadata'])) throw badRequest('the body must be a Scale of autoscaling/v1')
    if (scale['kind'] !== 'Scale' || scale['apiVersion'] !== 'autoscaling/v1') {
      throw badRequest('no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:110"')
    }
    sameAsUrl(request, scale as unknown as KubeObject)
    checkRevision(request, scale as unknown as KubeObject, live, true)
    const replicas = isObject(scale['spec']) ? (scale['spec']['replicas'] ?? 0) : 0
    if (typeof replicas !== 'number') {
      throw badRequest(
        `json: cannot unmarshal ${typeof replicas} into Go struct field ScaleSpec.spec.replicas of type int32`,
      )
    }
    return { object: withValueAt(live, specReplicasPath, replicas) }
  })
  return scaleOf(request, outcome.object)
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
