import { badRequest, fieldErrors, invalid, isObject, type KubeObject } from '@crosstie/kube'
import type { Body, WriteRequest } from '../verbs/request.js'

/**
 * From what the client sent to an object of the kind: version and kind agree
 * with the URL, unknown fields are gone (and reported as the client wished),
 * nulls are dropped, defaults are in. The order is Kubernetes' own.
 */
export function decode(request: WriteRequest, body: Body): KubeObject {
  return complete(request, typed(request, body.value), body.strictErrors)
}

/** The same for an object that is already typed, such as the result of a patch. */
export function complete(request: WriteRequest, object: KubeObject, strictErrors: readonly string[] = []): KubeObject {
  const unknown: string[] | undefined = request.fieldValidation === 'Ignore' ? undefined : []
  const { strategy } = request.served.definition
  const shaped = strategy.decode
    ? strategy.decode(object, request.served.version.name, unknown)
    : custom(request, object, unknown)
  reportUnknown(request, strictErrors, unknown ?? [])
  return keepReset(object, shaped)
}

/** An empty list asks for managedFields to start anew. Go's objects tell it from none, ours only here. */
function keepReset({ metadata }: KubeObject, shaped: KubeObject): KubeObject {
  const { managedFields } = metadata ?? {}
  if (!Array.isArray(managedFields) || managedFields.length > 0 || shaped.metadata.managedFields) return shaped
  return { ...shaped, metadata: { ...shaped.metadata, managedFields } }
}

function custom({ served }: WriteRequest, object: KubeObject, unknown: string[] | undefined): KubeObject {
  const { schema } = served
  const { object: coerced, error } = schema.coerceMetadata(object)
  if (error) {
    const { kind, version } = served.type
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${error}`)
  }
  return schema.applyDefaults(schema.dropNulls(schema.prune(coerced, { root: true, unknown })))
}

function typed({ served }: WriteRequest, value: unknown): KubeObject {
  const { kind } = served.type
  if (!isObject(value)) throw badRequest(`the object provided is unrecognized (must be of type ${kind})`)
  const { apiVersion = served.apiVersion, kind: given = kind } = value
  if (apiVersion !== served.apiVersion) {
    if (typeof apiVersion !== 'string' || apiVersion === '') throw badRequest("Object 'apiVersion' is missing")
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${served.apiVersion})`,
    )
  }
  if (given !== kind) throw wrongKind(served, value, String(given))
  if (value['apiVersion'] === apiVersion && value['kind'] === given && isObject(value['metadata'])) {
    return value as unknown as KubeObject
  }
  const { apiVersion: _v, kind: _k, metadata, ...rest } = value
  return { apiVersion, kind, metadata: metadata ?? {}, ...rest } as unknown as KubeObject
}

function wrongKind(served: WriteRequest['served'], value: Record<string, unknown>, given: string): Error {
  const { group, version, kind } = served.type
  if (served.definition.crd) {
    const name = isObject(value['metadata']) ? String(value['metadata']['name'] ?? '') : ''
    return invalid({ group, kind }, name, [fieldErrors.invalid('kind', given, `must be ${kind}`)])
  }
  return badRequest(
    `${given} in version "${version}" cannot be handled as a ${kind}: no kind "${given}" is registered for version "${served.apiVersion}"`,
  )
}

function reportUnknown(request: WriteRequest, strictErrors: readonly string[], unknown: readonly string[]): void {
  if (strictErrors.length === 0 && unknown.length === 0) return
  if (request.fieldValidation === 'Ignore') return
  const complaints = [...strictErrors, ...unknown.map((path) => `unknown field "${path}"`)]
  if (request.fieldValidation === 'Warn') {
    request.warnings.push(...complaints)
    return
  }
  const { kind, version } = request.served.type
  throw badRequest(
    `${kind} in version "${version}" cannot be handled as a ${kind}: strict decoding error: ${complaints.join(', ')}`,
  )
}
