import { badRequest, fieldErrors, invalid, isObject, type KubeObject, parseApiVersion } from '@crosstie/kube'
import { applyMergePatch, applyStrategicMergePatch, type JsonPatchSteps, jsonPatchSteps } from '@crosstie/kube/patch'
import { complete } from '../decode/decode.js'
import { PATCH_TYPES, type PatchType } from '../definitions/conventions.js'
import { DecodeError } from '../definitions/decode-error.js'
import type { Engine } from '../serving/engine.js'
import { isLong, rest } from '../serving/pace.js'
import type { Body, Outcome, WriteRequest } from '../serving/request.js'
import { apply } from './apply.js'
import { goMap } from './go-map.js'
import { sameAsUrl } from './names.js'
import { checkRevision } from './preconditions.js'
import type { Proposal } from './write-operation.js'
import { modify } from './write-path.js'

/** The body of a patch. */
export interface PatchBody extends Body {
  readonly type: PatchType
  readonly force: boolean
}

/** PATCH: JSON patch, merge patch, strategic merge patch and server-side apply. */
export async function patch(engine: Engine, request: WriteRequest, body: PatchBody): Promise<Outcome> {
  if (body.type === 'apply') return await apply(engine, request, body)
  const { strategy } = request.served.definition
  if (!strategy.patchMediaTypes.some((mediaType) => PATCH_TYPES[mediaType] === body.type)) {
    throw strategy.unsupportedPatchError()
  }
  const proposal = (live: KubeObject, patched: KubeObject): Proposal => {
    const object = sameAsUrl(request, patchedObject(engine, request, patched, body))
    checkRevision(request, object, live, strategy.unconditionalUpdate)
    return { object }
  }
  return await modify(engine, request, (live) => {
    const patched = patchOf(request, live, body)
    if (patched instanceof Promise) return patched.then((object) => proposal(live, object))
    return isLong(request) ? rest(request).then(() => proposal(live, patched)) : proposal(live, patched)
  })
}

/** Decodes the patched object, which must still be of the kind. Throws 422. */
function patchedObject(engine: Engine, request: WriteRequest, patched: KubeObject, body: PatchBody): KubeObject {
  const { served } = request
  try {
    const { apiVersion, kind } = patched
    const same = apiVersion === served.apiVersion && kind === served.type.kind
    if (served.definition.strategy.decodesNamedType && !same) throw misread(engine, request, patched)
    return complete(request, patched, body.strictErrors)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    const shown = body.type === 'strategic' ? goMap(body.value) : served.definition.strategy.printPatched(patched)
    const why = body.type === 'strategic' ? conversionError(error.message) : error.message
    throw invalid({ group: '', kind: '' }, '', [fieldErrors.invalid('patch', shown, why)])
  }
}

/** Go decodes the patched object as the type that it names, and refuses it afterwards. */
function misread({ registry }: Engine, { served }: WriteRequest, patched: KubeObject): DecodeError {
  const { apiVersion, kind } = patched
  const { group, version } = parseApiVersion(String(apiVersion)) ?? { group: '', version: '' }
  const other = registry.byKind(group, version, String(kind))
  if (!other?.definition.strategy.decode) return new DecodeError(unregistered(apiVersion, kind))
  try {
    other.definition.strategy.decode(patched, version, undefined)
  } catch (error) {
    if (error instanceof DecodeError) return error
    throw error
  }
  const internal = served.definition.group.split('.')[0] || 'core'
  return new DecodeError(`converting (${version}.${kind}) to (${internal}.${served.type.kind}): unknown conversion`)
}

function unregistered(apiVersion: string, kind: string): string {
  return `no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:110"`
}

/** kube-apiserver applies strategic merge patches to Go values, where another decoder reports mismatches. */
function conversionError(message: string): string {
  const [, given, wanted] = /cannot unmarshal (\w+) into Go .* of type (\S+)$/.exec(message) ?? []
  if (given === undefined) return message
  return given === 'number' ? `cannot convert int64 to ${wanted}` : `unrecognized type: ${wanted}`
}

function patchOf(
  request: WriteRequest,
  live: KubeObject,
  { type, value }: PatchBody,
): KubeObject | Promise<KubeObject> {
  const { served } = request
  if (type === 'json') return jsonPatched(request, jsonPatchSteps(live, value))
  const patched =
    type === 'merge' ? applyMergePatch(live, value) : applyStrategicMergePatch(live, value, served.version.schema!)
  return asObject(request, patched)
}

/** Lets other requests run between the operations of a long patch. */
function jsonPatched(request: WriteRequest, steps: JsonPatchSteps): KubeObject | Promise<KubeObject> {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return asObject(request, value)
    if (isLong(request)) return rest(request).then(() => jsonPatched(request, steps))
  }
}

function asObject({ served }: WriteRequest, patched: unknown): KubeObject {
  if (!isObject(patched)) throw badRequest(`the patch does not result in an object of kind ${served.type.kind}`)
  return patched as unknown as KubeObject
}
