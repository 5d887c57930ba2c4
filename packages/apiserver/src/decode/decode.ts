import { badRequest, fieldErrors, invalid, type KubeObject, parseApiVersion } from '@crosstie/kube'
import { DecodeError } from '../definitions/decode-error.js'
import type { Strategy } from '../definitions/definition.js'
import type { Body, WriteRequest } from '../serving/request.js'
import type { Served } from '../serving/served.js'

/**
 * Decodes a body: checks version and kind against the URL, prunes unknown fields (and reports them as
 * fieldValidation says), drops nulls and applies defaults. The order is that of kube-apiserver. Throws 400.
 */
export function decode(request: WriteRequest, body: Body): KubeObject {
  const { served } = request
  const { strategy } = served.definition
  const object = strategy.readTypeMeta(served.type, body)
  try {
    return strategy.decode
      ? typed(request, strategy.decode, object, body.strictErrors)
      : complete(request, object, body.strictErrors)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    const { kind, version } = request.served.type
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${error.message}`)
  }
}

/** Go's typed decoder reports unknown fields before duplicate ones, and ignores duplicates inside unknown fields. */
function typed(
  request: WriteRequest,
  decodeKind: NonNullable<Strategy['decode']>,
  object: KubeObject,
  strictErrors: readonly string[],
): KubeObject {
  const unknown: string[] = []
  const shaped = decodeKind(object, request.served.version.name, unknown)
  const unknownFields = new Set(unknown)
  const twice = strictErrors.filter(
    (error) => !isBelow(unknownFields, /^duplicate field "(.*)"$/.exec(error)?.[1] ?? ''),
  )
  const isDuplicate = (error: string) => error.startsWith('duplicate field')
  const strange = unknown.map((path) => `unknown field "${path}"`)
  const others = twice.filter((error) => !isDuplicate(error))
  reportUnknown(request, [...others, ...strange, ...twice.filter(isDuplicate)], [])
  return keepReset(request, object, shaped)
}

/** Whether a path is one of the fields, or a part of one. */
function isBelow(fields: ReadonlySet<string>, path: string): boolean {
  for (let end = path.length; end > 0; end = path.lastIndexOf('.', end - 1)) {
    if (fields.has(path.slice(0, end))) return true
  }
  return false
}

/** Decodes an object whose type is known, such as the result of a patch. Throws DecodeError. */
export function complete(request: WriteRequest, object: KubeObject, strictErrors: readonly string[] = []): KubeObject {
  const unknown: string[] | undefined = request.fieldValidation === 'Ignore' ? undefined : []
  const { strategy } = request.served.definition
  const shaped = strategy.decode
    ? strategy.decode(object, request.served.version.name, unknown)
    : custom(request, object, { unknown })
  reportUnknown(request, strictErrors, unknown ?? [])
  return keepReset(request, object, shaped)
}

/**
 * Decodes the result of server-side apply. kube-apiserver does not decode it again: nulls are validated like other
 * values and dropped only from the stored object.
 */
export function completeApplied(request: WriteRequest, object: KubeObject): KubeObject {
  if (request.served.definition.strategy.decode) return complete({ ...request, fieldValidation: 'Ignore' }, object)
  return keepReset(request, object, custom(request, object, { nulls: true }))
}

/** Keeps or drops an empty list of managedFields. kube-apiserver cannot tell it from an absent one in custom resources. */
function keepReset({ served }: WriteRequest, { metadata }: KubeObject, shaped: KubeObject): KubeObject {
  const { managedFields } = metadata ?? {}
  if (!Array.isArray(managedFields) || managedFields.length > 0) return shaped
  const { managedFields: _, ...rest } = shaped.metadata
  const { emptyManagedFieldsReset } = served.definition.strategy
  return { ...shaped, metadata: emptyManagedFieldsReset ? { ...rest, managedFields } : rest }
}

function custom(
  { served }: WriteRequest,
  object: KubeObject,
  options: { readonly unknown?: string[]; readonly nulls?: boolean },
): KubeObject {
  const { object: shaped, error } = served.schema.shape(object, options)
  if (error) throw new DecodeError(error)
  return shaped
}

/** Throws 422 for a custom resource with another apiVersion or kind. The error names that apiVersion and kind. */
export function checkTypeMeta(served: Served, object: KubeObject): void {
  const { apiVersion, kind } = object
  const errors = [
    ...(kind === served.type.kind ? [] : [fieldErrors.invalid('kind', kind, `must be ${served.type.kind}`)]),
    ...(apiVersion === served.apiVersion
      ? []
      : [fieldErrors.invalid('apiVersion', apiVersion, `must be ${served.apiVersion}`)]),
  ]
  if (errors.length === 0) return
  const group = parseApiVersion(String(apiVersion))?.group ?? ''
  throw invalid({ group, kind: String(kind) }, object.metadata?.name ?? '', errors)
}

function reportUnknown(request: WriteRequest, strictErrors: readonly string[], unknown: readonly string[]): void {
  if (strictErrors.length === 0 && unknown.length === 0) return
  const complaints = [...strictErrors, ...unknown.map((path) => `unknown field "${path}"`)]
  if (request.fieldValidation === 'Warn') warnOf(request, complaints)
  else if (request.fieldValidation === 'Strict')
    throw new DecodeError(`strict decoding error: ${complaints.join(', ')}`)
}

/**
 * Adds a warning for each complaint. The YAML decoder reports several complaints in one text, one line each below a
 * heading.
 */
export function warnOf({ warnings }: WriteRequest, complaints: readonly string[]): void {
  for (const complaint of complaints) {
    const lines = complaint.replace(/^yaml: unmarshal errors:\n/, '')
    if (lines === complaint) warnings.push(complaint)
    else for (const line of lines.split('\n')) warnings.push(line.trim())
  }
}
