import {
  badRequest,
  conflict,
  isObject,
  type JsonPatchOperation,
  type KubeObject,
  notFound,
  StatusError,
} from '@crosstie/kube'
import { applyJsonPatch, applyMergePatch, applyStrategicMergePatch } from '@crosstie/kube/patch'
import { complete } from '../admission/decode.js'
import type { Engine } from '../engine.js'
import { createDecoded } from './create.js'
import { type Body, type Outcome, resetFieldsOf, type WriteRequest } from './request.js'
import { checkPreconditions, modify, type Proposal } from './update.js'

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply'

export interface PatchBody extends Body {
  readonly type: PatchType
  readonly force: boolean
}

/** PATCH in all its kinds. */
export async function patch(engine: Engine, request: WriteRequest, body: PatchBody): Promise<Outcome> {
  if (body.type === 'apply') return await apply(engine, request, body)
  if (body.type === 'strategic' && request.served.definition.crd) throw unsupportedStrategic()
  return await modify(engine, request, (live) => {
    const patched = patchOf(request, live, body)
    const object = complete(request, patched, body.strictErrors)
    checkName(request, object)
    checkPreconditions(request, object, live, true)
    return { object }
  })
}

function unsupportedStrategic(): StatusError {
  const message =
    'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml'
  return new StatusError(415, 'UnsupportedMediaType', message)
}

function patchOf({ served }: WriteRequest, live: KubeObject, { type, value }: PatchBody): KubeObject {
  const patched =
    type === 'json'
      ? applyJsonPatch(live, value as readonly JsonPatchOperation[])
      : type === 'merge'
        ? applyMergePatch(live, value)
        : applyStrategicMergePatch(live, value, served.version.schema!)
  if (!isObject(patched)) throw badRequest(`the patch leaves no ${served.type.kind}: an object is needed`)
  return patched as unknown as KubeObject
}

function checkName({ name }: WriteRequest, { metadata }: KubeObject): void {
  if (metadata.name === name) return
  throw badRequest(`the name of the object (${metadata.name ?? ''}) does not match the name on the URL (${name})`)
}

/** Server-side apply: creates what is not there. */
async function apply(engine: Engine, request: WriteRequest, body: PatchBody): Promise<Outcome> {
  const { served, namespace, name, subresource } = request
  const applied = appliedOf(request, body)
  const settle = async (live: KubeObject | undefined): Promise<Proposal> => {
    const { object } = await served.fields.applyPatch({
      live,
      applied,
      manager: request.fieldManager,
      force: body.force,
      version: served.apiVersion,
      subresource,
      now: engine.clock.now(),
      resetFields: resetFieldsOf(request),
    })
    return { object: complete({ ...request, fieldValidation: 'Ignore' }, object), tracked: true }
  }
  // The object may come or go between our look and our write: then look again.
  for (;;) {
    try {
      if (!engine.store.tip(served.key(namespace, name))) {
        if (subresource) throw notFound(served.type, name)
        return await createApplied(engine, request, (await settle(undefined)).object, applied)
      }
      return await modify(engine, request, (live) => {
        checkPreconditions(request, applied, live, true)
        return settle(live)
      })
    } catch (error) {
      if (!raced(engine, request, error)) throw error
    }
  }
}

function raced(
  engine: Engine,
  { served, namespace, name, subresource, dryRun }: WriteRequest,
  error: unknown,
): boolean {
  if (!(error instanceof StatusError) || subresource || dryRun) return false
  const there = engine.store.tip(served.key(namespace, name)) !== undefined
  return (
    (error.reason === 'NotFound' && error.details?.name === name && !there) ||
    (error.reason === 'AlreadyExists' && there)
  )
}

async function createApplied(
  engine: Engine,
  request: WriteRequest,
  object: KubeObject,
  applied: KubeObject,
): Promise<Outcome> {
  const { uid } = applied.metadata
  if (uid) {
    const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`
    throw conflict(request.served.type, request.name, why)
  }
  return await createDecoded(engine, request, object, { tracked: true })
}

function appliedOf(request: WriteRequest, body: PatchBody): KubeObject {
  const { served, namespace, name } = request
  const { value } = body
  if (!isObject(value)) throw badRequest('error decoding YAML: the applied configuration must be an object')
  const { apiVersion, kind, metadata = {} } = value
  if (!kind || !apiVersion)
    throw badRequest(`Object '${kind ? 'apiVersion' : 'Kind'}' is missing in the applied configuration`)
  if (apiVersion !== served.apiVersion || kind !== served.type.kind) {
    const want = `${served.apiVersion}, Kind=${served.type.kind}`
    throw badRequest(`invalid object type: ${String(apiVersion)}, Kind=${String(kind)}, want ${want}`)
  }
  if (!isObject(metadata)) throw badRequest('metadata must be an object')
  if (metadata['name'] !== undefined && metadata['name'] !== name) {
    throw badRequest(
      `the name of the object (${String(metadata['name'])}) does not match the name on the URL (${name})`,
    )
  }
  const own = { ...metadata, name, ...(namespace ? { namespace } : {}) }
  if (metadata['namespace'] && metadata['namespace'] !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  return { ...value, metadata: own } as unknown as KubeObject
}
