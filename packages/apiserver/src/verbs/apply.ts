import { badRequest, conflict, isObject, type KubeObject, parseApiVersion, StatusError } from '@crosstie/kube'
import { completeApplied, warnOf } from '../decode/decode.js'
import { DecodeError } from '../definitions/decode-error.js'
import type { Engine } from '../serving/engine.js'
import { isLong, pauseOf, rest } from '../serving/pace.js'
import { type Outcome, resetFieldsOf, type WriteRequest } from '../serving/request.js'
import { goMap } from './go-map.js'
import { sameAsUrl } from './names.js'
import type { PatchBody } from './patch.js'
import { checkRevision, checkUid } from './preconditions.js'
import type { Proposal } from './write-operation.js'
import { write } from './write-path.js'

/**
 * Server-side apply: merges the applied fields into the live object, records the manager as their owner and removes fields that
 * it applied before and does not apply now. Creates the object when it does not exist. Throws 409 for fields of other
 * managers unless `force` is set.
 */
export async function apply(engine: Engine, request: WriteRequest, body: PatchBody): Promise<Outcome> {
  return await write(engine, request, {
    target: request.subresource ? 'existing' : 'either',
    decode: () => appliedOf(request, body),
    async propose(applied: KubeObject, live: KubeObject | undefined) {
      if (live) {
        checkUid(request, applied, live)
        checkRevision(request, applied, live, true)
      }
      const proposal = await proposalOf(engine, request, body, applied, live)
      return live ? proposal : forCreation(request, applied, proposal)
    },
  })
}

async function proposalOf(
  engine: Engine,
  request: WriteRequest,
  body: PatchBody,
  applied: KubeObject,
  live: KubeObject | undefined,
): Promise<Proposal> {
  const { served, subresource } = request
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
    pause: pauseOf(request),
  })
  reportStrictErrors(request, body)
  if (isLong(request)) await rest(request)
  return { object: sameAsUrl(request, merged(request, object, applied)), ownershipTracked: true }
}

/** kube-apiserver reports duplicate keys of the body after conflicts. */
function reportStrictErrors(request: WriteRequest, { strictErrors }: PatchBody): void {
  if (request.fieldValidation === 'Warn') warnOf(request, strictErrors)
  if (request.fieldValidation !== 'Strict' || strictErrors.length === 0) return
  throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${strictErrors.join(', ')}`)
}

/** An applied object that names a uid expects that object to exist. */
function forCreation({ served, name }: WriteRequest, applied: KubeObject, { object }: Proposal): Proposal {
  const { uid } = applied.metadata
  if (uid) {
    const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`
    throw conflict(served.type, name, why)
  }
  const { resourceVersion: _, ...metadata } = object.metadata
  return { object: { ...object, metadata }, ownershipTracked: true }
}

/** Decodes the merged object. Fields such as bytes and times are read only now. */
function merged(request: WriteRequest, object: KubeObject, applied: KubeObject): KubeObject {
  const { type, definition } = request.served
  try {
    return completeApplied(request, object)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw definition.strategy.appliedDecodeError?.(type, applied, error.message) ?? error
  }
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
