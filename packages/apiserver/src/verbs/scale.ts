import { badRequest, getOwn, isObject, type KubeObject, setOwn } from '@crosstie/kube'
import { applyJsonPatch, applyMergePatch } from '@crosstie/kube/patch'
import type { Engine } from '../engine.js'
import { get } from './get.js'
import type { PatchBody } from './patch.js'
import type { Body, Request, WriteRequest } from './request.js'
import { checkPreconditions, modify } from './update.js'

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
    const scale = change(scaleOf(request, live))
    if (!isObject(scale)) throw badRequest('the body must be a Scale of autoscaling/v1')
    const { metadata = {}, spec = {} } = scale
    if (isObject(metadata) && 'resourceVersion' in metadata) {
      checkPreconditions(request, { ...live, metadata } as KubeObject, live, true)
    }
    const replicas = isObject(spec) ? (spec['replicas'] ?? 0) : 0
    if (typeof replicas !== 'number') throw badRequest('spec.replicas of a Scale must be a number')
    return { object: withPath(live, specReplicasPath, replicas) }
  })
  return scaleOf(request, outcome.object)
}

function scaleOf({ served }: Request, object: KubeObject): KubeObject {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = served.version.subresources.scale!
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const selector = labelSelectorPath ? at(object, labelSelectorPath) : undefined
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, ...(namespace ? { namespace } : {}), uid, resourceVersion, creationTimestamp },
    spec: { ...(at(object, specReplicasPath) === undefined ? {} : { replicas: at(object, specReplicasPath) }) },
    status: { replicas: at(object, statusReplicasPath) ?? 0, ...(selector ? { selector } : {}) },
  }
}

const parts = (path: string) => path.split('.').filter((part) => part !== '')

function at(object: unknown, path: string): unknown {
  let value = object
  for (const part of parts(path)) value = isObject(value) ? getOwn(value, part) : undefined
  return value
}

function withPath(object: KubeObject, path: string, value: unknown): KubeObject {
  const copy: Record<string, unknown> = { ...object }
  let place = copy
  const names = parts(path)
  for (const name of names.slice(0, -1)) {
    const below = getOwn(place, name)
    const next = isObject(below) ? { ...below } : {}
    setOwn(place, name, next)
    place = next
  }
  setOwn(place, names.at(-1)!, value)
  return copy as unknown as KubeObject
}
