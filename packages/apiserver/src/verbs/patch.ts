import {
  badRequest,
  conflict,
  fieldErrors,
  invalid,
  isObject,
  type JsonPatchOperation,
  type KubeObject,
  notFound,
  parseApiVersion,
  printJson,
  StatusError,
  stringify,
} from '@crosstie/kube'
import { applyJsonPatch, applyMergePatch, applyStrategicMergePatch } from '@crosstie/kube/patch'
import { complete, completeApplied, warnOf } from '../admission/decode.js'
import { UnfitError } from '../admission/unfit.js'
import type { Engine } from '../engine.js'
import { checkMayCreate, createDecoded } from './create.js'
import { sameAsUrl } from './names.js'
import { isLong, rest } from './pace.js'
import { type Body, type Outcome, resetFieldsOf, type WriteRequest } from './request.js'
import { checkRevision, checkUid, modify, type Proposal } from './update.js'

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply'

export interface PatchBody extends Body {
  readonly type: PatchType
  readonly force: boolean
}

/** PATCH in all its kinds. */
export async function patch(engine: Engine, request: WriteRequest, body: PatchBody): Promise<Outcome> {
  if (body.type === 'apply') return await apply(engine, request, body)
  if (body.type === 'strategic' && request.served.definition.crd) throw unsupportedStrategic()
  const proposal = (live: KubeObject, patched: KubeObject): Proposal => {
    const object = sameAsUrl(request, patchedObject(engine, request, patched, body))
    checkRevision(request, object, live, request.served.definition.strategy.unconditionalUpdate)
    return { object }
  }
  return await modify(engine, request, (live) => {
    const patched = patchOf(request, live, body)
    return isLong(request) ? rest(request).then(() => proposal(live, patched)) : proposal(live, patched)
  })
}

/** What a patch makes must still be of the kind. */
function patchedObject(engine: Engine, request: WriteRequest, patched: KubeObject, body: PatchBody): KubeObject {
  const { served } = request
  try {
    const { apiVersion, kind } = patched
    const same = apiVersion === served.apiVersion && kind === served.type.kind
    if (!served.definition.crd && !same) throw misread(engine, request, patched)
    return complete(request, patched, body.strictErrors)
  } catch (error) {
    if (!(error instanceof UnfitError)) throw error
    const shown = body.type === 'strategic' ? goMap(body.value) : shownPatched(request, patched)
    const why = body.type === 'strategic' ? conversionError(error.message) : error.message
    throw invalid({ group: '', kind: '' }, '', [fieldErrors.invalid('patch', shown, why)])
  }
}

/** Custom resources have no type to order their fields by. Who owns which field is not part of what is patched. */
function shownPatched({ served }: WriteRequest, patched: KubeObject): string {
  if (!served.definition.crd) return stringify(patched)
  const { managedFields: _, ...metadata } = patched.metadata ?? {}
  return printJson({ ...patched, metadata })
}

/** Go reads what calls itself a Secret as a Secret, and only then finds that it was none that was asked for. */
function misread({ registry }: Engine, { served }: WriteRequest, patched: KubeObject): UnfitError {
  const { apiVersion, kind } = patched
  const { group, version } = parseApiVersion(String(apiVersion)) ?? { group: '', version: '' }
  const other = registry.byKind(group, version, String(kind))
  if (!other?.definition.strategy.decode) return new UnfitError(unregistered(apiVersion, kind))
  try {
    other.definition.strategy.decode(patched, version, undefined)
  } catch (error) {
    if (error instanceof UnfitError) return error
    throw error
  }
  const internal = served.definition.group.split('.')[0] || 'core'
  return new UnfitError(`converting (${version}.${kind}) to (${internal}.${served.type.kind}): unknown conversion`)
}

function unregistered(apiVersion: string, kind: string): string {
  return `no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:110"`
}

/** The real server merges strategically between Go values, where a misfit is told by another decoder. */
function conversionError(message: string): string {
  const [, given, wanted] = /cannot unmarshal (\w+) into Go .* of type (\S+)$/.exec(message) ?? []
  if (given === undefined) return message
  return given === 'number' ? `cannot convert int64 to ${wanted}` : `unrecognized type: ${wanted}`
}

/** `map[a:1 b:map[c:[x y]]]`: how Go prints a map. */
function goMap(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goMap).join(' ')}]`
  if (!isObject(value)) return value === null ? '<nil>' : String(value)
  const members = Object.keys(value)
    .sort()
    .map((key) => `${key}:${goMap(value[key])}`)
  return `map[${members.join(' ')}]`
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

/** Server-side apply: creates what is not there. */
async function apply(engine: Engine, request: WriteRequest, body: PatchBody): Promise<Outcome> {
  const { served, namespace, name, subresource } = request
  const applied = appliedOf(request, body)
  const settle = async (live: KubeObject | undefined): Promise<Proposal> => {
    if (isLong(request)) await rest(request)
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
    if (request.fieldValidation === 'Warn') warnOf(request, body.strictErrors)
    if (request.fieldValidation === 'Strict' && body.strictErrors.length > 0) {
      throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${body.strictErrors.join(', ')}`)
    }
    if (isLong(request)) await rest(request)
    return { object: sameAsUrl(request, merged(request, object, applied)), tracked: true }
  }
  // The object may come or go between our look and our write: then look again.
  for (;;) {
    try {
      if (!engine.store.tip(served.key(namespace, name))) {
        if (subresource) throw notFound(served.type, name)
        checkMayCreate(engine, request)
        return await createApplied(engine, request, (await settle(undefined)).object, applied)
      }
      return await modify(engine, request, (live) => {
        checkUid(request, applied, live)
        checkRevision(request, applied, live, true)
        return settle(live)
      })
    } catch (error) {
      if (!raced(engine, request, error)) throw error
    }
  }
}

/** What apply came to, as an object of the kind: fields such as bytes and times are read only now. */
function merged(request: WriteRequest, object: KubeObject, applied: KubeObject): KubeObject {
  try {
    return completeApplied(request, object)
  } catch (error) {
    if (!(error instanceof UnfitError) || request.served.definition.crd) throw error
    const { group, version, kind } = request.served.type
    const type = `${group}/${version}, Kind=${kind}`
    const { namespace = '', name = '' } = applied.metadata
    const why = error.message.startsWith('illegal base64')
      ? `error decoding from json: ${error.message}`
      : error.message
    const attempt = `failed to convert new object (${namespace}/${name}; ${type}) to proper version`
    throw new StatusError(500, '', `${attempt}: unable to convert unstructured object to ${type}: ${why}`)
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
  const { resourceVersion: _, ...metadata } = object.metadata
  return await createDecoded(engine, request, { ...object, metadata }, { tracked: true })
}

function appliedOf(request: WriteRequest, { value }: PatchBody): KubeObject {
  const { served } = request
  const given = isObject(value) ? value : {}
  const { apiVersion = '', kind = '', metadata = {} } = given
  if (apiVersion !== served.apiVersion || kind !== served.type.kind) {
    const { group, version } = parseApiVersion(String(apiVersion)) ?? { group: '', version: String(apiVersion) }
    throw badRequest(`invalid object type: ${group}/${version}, Kind=${String(kind)}`)
  }
  if (!isObject(metadata) && metadata !== null) {
    const what = `failed to create typed patch object (/; ${served.apiVersion}, Kind=${served.type.kind})`
    throw new StatusError(500, '', `${what}: .metadata: expected map, got &{${goMap(metadata)}}`)
  }
  return { ...given, metadata: metadata ?? {} } as unknown as KubeObject
}
