import {
  badRequest,
  fieldErrors,
  type GroupVersion,
  invalid,
  isObject,
  type KubeObject,
  parseApiVersion,
  type StatusError,
  stringify,
} from '@crosstie/kube'
import { DecodeError } from '../definitions/decode-error.js'
import type { Body, WriteRequest } from '../serving/request.js'
import type { Served } from '../serving/served.js'

/**
 * From what the client sent to an object of the kind: version and kind agree
 * with the URL, unknown fields are gone (and reported as the client wished),
 * nulls are dropped, defaults are in. The order is Kubernetes' own.
 */
export function decode(request: WriteRequest, body: Body): KubeObject {
  const { served } = request
  const object = served.definition.crd ? typedCustom(served, body) : typedBuiltIn(served, body)
  try {
    return served.definition.crd
      ? complete(request, object, body.strictErrors)
      : typed(request, object, body.strictErrors)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    const { kind, version } = request.served.type
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${error.message}`)
  }
}

/** Go's typed decoder names what it does not know before what came twice, and does not look into it. */
function typed(request: WriteRequest, object: KubeObject, strictErrors: readonly string[]): KubeObject {
  const unknown: string[] = []
  const shaped = request.served.definition.strategy.decode!(object, request.served.version.name, unknown)
  const isStrange = (path: string) => unknown.some((name) => path === name || path.startsWith(`${name}.`))
  const twice = strictErrors.filter((error) => !isStrange(/^duplicate field "(.*)"$/.exec(error)?.[1] ?? ''))
  const later = twice.filter((error) => error.startsWith('duplicate field'))
  const strange = unknown.map((path) => `unknown field "${path}"`)
  reportUnknown(request, [...twice.filter((error) => !later.includes(error)), ...strange, ...later], [])
  return keepReset(object, shaped, false)
}

/** The same for an object that is already typed, such as the result of a patch. Throws UnfitError. */
export function complete(request: WriteRequest, object: KubeObject, strictErrors: readonly string[] = []): KubeObject {
  const unknown: string[] | undefined = request.fieldValidation === 'Ignore' ? undefined : []
  const { strategy } = request.served.definition
  const shaped = strategy.decode
    ? strategy.decode(object, request.served.version.name, unknown)
    : custom(request, object, { unknown })
  reportUnknown(request, strictErrors, unknown ?? [])
  return keepReset(object, shaped, request.served.definition.crd !== undefined)
}

/**
 * The same for what was applied. The real server does not decode that again: its nulls are judged like other values, and
 * are gone only from what is stored.
 */
export function completeApplied(request: WriteRequest, object: KubeObject): KubeObject {
  const { crd } = request.served.definition
  if (!crd) return complete({ ...request, fieldValidation: 'Ignore' }, object)
  return keepReset(object, custom(request, object, { nulls: true }), true)
}

/**
 * An empty list resets the managedFields of a built-in kind. For a custom resource it means nothing, since
 * kube-apiserver cannot tell it from an absent list there. A list of one empty entry resets both.
 */
function keepReset({ metadata }: KubeObject, shaped: KubeObject, crd: boolean): KubeObject {
  const { managedFields } = metadata ?? {}
  if (!Array.isArray(managedFields) || managedFields.length > 0) return shaped
  const { managedFields: _, ...rest } = shaped.metadata
  return { ...shaped, metadata: crd ? rest : { ...rest, managedFields } }
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

/** Go fills in the kind of the URL when a body names none. */
function typedBuiltIn(served: Served, { value, raw }: Body): KubeObject {
  const { kind } = served.type
  if (value === null) return { apiVersion: served.apiVersion, kind, metadata: {} }
  if (!isObject(value)) throw unrecognized(kind, notAnObject(value), raw)
  checkTypeMetaIsText(kind, value, raw)
  const apiVersion = String(named(value, 'apiversion') ?? '').replace(/^\/(?=[^/]*$)/, '') || served.apiVersion
  const given = named(value, 'kind') || kind
  if (apiVersion !== served.apiVersion || given !== kind) throw otherKind(served, apiVersion, String(given), raw)
  if (value['apiVersion'] === apiVersion && value['kind'] && isObject(value['metadata']))
    return value as unknown as KubeObject
  const { apiVersion: _v, kind: _k, metadata, ...rest } = value
  return { apiVersion, kind, metadata: metadata ?? {}, ...rest } as unknown as KubeObject
}

/** Go's decoder does not mind the case of a field's name when it looks for the kind; the last one wins. */
function named(value: Record<string, unknown>, lowerCase: string): unknown {
  let found: unknown
  for (const key of Object.keys(value)) if (key.toLowerCase() === lowerCase) found = value[key]
  return found
}

function otherKind(
  { type, definition }: Served,
  apiVersion: string,
  given: string,
  raw: Uint8Array | undefined,
): StatusError {
  const version = parseApiVersion(apiVersion)
  if (!version) return unrecognized(type.kind, `unexpected GroupVersion string: ${apiVersion}`, raw)
  const why = isBuiltIn(version, given)
    ? `converting (${version.version}.${given}) to (${definition.group.split('.')[0] || 'core'}.${type.kind}): unknown conversion`
    : `no kind "${given}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:110"`
  return badRequest(`${given} in version "${version.version}" cannot be handled as a ${type.kind}: ${why}`)
}

// What the scheme of the real server knows of the core group, as far as anybody sends it by mistake.
const coreKinds =
  /^(ConfigMap|Secret|Namespace|Event|ServiceAccount|Pod|Node|Service|Endpoints|PersistentVolume)(List)?$/

function isBuiltIn({ group, version }: GroupVersion, kind: string): boolean {
  return group === '' && version === 'v1' && coreKinds.test(kind)
}

function typedCustom(served: Served, { value, raw }: Body): KubeObject {
  const { kind } = served.type
  if (value === null) throw unrecognized(kind, missingKind(value, raw), raw)
  if (!isObject(value)) throw unrecognized(kind, notAnObject(value), raw)
  checkTypeMetaIsText(kind, value, raw)
  if (!value['kind']) throw unrecognized(kind, missingKind(value, raw), raw)
  const apiVersion = typeof value['apiVersion'] === 'string' ? value['apiVersion'] : ''
  if (apiVersion !== served.apiVersion) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${served.apiVersion})`,
    )
  }
  const object = value as unknown as KubeObject
  return isObject(value['metadata']) || value['metadata'] !== undefined ? object : { ...object, metadata: {} }
}

function missingKind(value: unknown, raw: Uint8Array | undefined): string {
  const text = raw ? Buffer.from(raw).toString('utf8').trim() : stringify(value)
  return `Object 'Kind' is missing in '${text}'`
}

/** A custom resource that says it is something else is an invalid one, named after what it says. */
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

/** 400 for a body that does not even say what it is. */
export function unrecognized(kind: string, why: string, raw: Uint8Array | undefined): StatusError {
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why} (${summary(raw)})`)
}

const SUMMARY_BYTES = 30
const BRACE = 0x7b

function summary(raw: Uint8Array | undefined): string {
  if (!raw || raw.length === 0) return '<empty>'
  const start = Buffer.from(raw.subarray(0, SUMMARY_BYTES))
  const text = raw[0] === BRACE ? start.toString('utf8') : start.toString('hex')
  return raw.length > SUMMARY_BYTES ? `${text} ...` : text
}

/** Go reads what a body says it is into two strings, before anything else. */
function checkTypeMetaIsText(kind: string, value: Record<string, unknown>, raw: Uint8Array | undefined): void {
  for (const key of Object.keys(value)) {
    const field = key.toLowerCase() === 'apiversion' ? 'apiVersion' : key.toLowerCase() === 'kind' ? 'kind' : undefined
    const given = value[key]
    if (!field || given === null || given === undefined || typeof given === 'string') continue
    const why = `json: cannot unmarshal ${goWord(given)} into Go struct field .${field} of type string`
    throw unrecognized(kind, `couldn't get version/kind; json parse error: ${why}`, raw)
  }
}

function goWord(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'bigint' ? 'number' : typeof value
}

function notAnObject(value: unknown): string {
  const type = goWord(value)
  const target =
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
  return `couldn't get version/kind; json parse error: json: cannot unmarshal ${type} into Go value of type ${target}`
}

function reportUnknown(request: WriteRequest, strictErrors: readonly string[], unknown: readonly string[]): void {
  if (strictErrors.length === 0 && unknown.length === 0) return
  const complaints = [...strictErrors, ...unknown.map((path) => `unknown field "${path}"`)]
  if (request.fieldValidation === 'Warn') warnOf(request, complaints)
  else if (request.fieldValidation === 'Strict')
    throw new DecodeError(`strict decoding error: ${complaints.join(', ')}`)
}

/** Adds a warning for each complaint. The YAML reader reports several at once, a line each under a heading. */
export function warnOf({ warnings }: WriteRequest, complaints: readonly string[]): void {
  for (const complaint of complaints) {
    const lines = complaint.replace(/^yaml: unmarshal errors:\n/, '')
    if (lines === complaint) warnings.push(complaint)
    else for (const line of lines.split('\n')) warnings.push(line.trim())
  }
}
