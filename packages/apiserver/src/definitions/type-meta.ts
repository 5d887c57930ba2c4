import {
  apiVersionOf,
  badRequest,
  type GroupVersion,
  isObject,
  type KubeObject,
  parseApiVersion,
  type ResourceType,
  type StatusError,
  stringify,
} from '@crosstie/kube'
import type { RawBody } from './conventions.js'

/** For built-in kinds: fills in `apiVersion` and `kind` where the body leaves them out, as Go's decoder does. Throws 400. */
export function inferTypeMeta(type: ResourceType, { value, raw }: RawBody): KubeObject {
  const { kind } = type
  const expected = apiVersionOf(type)
  if (value === null) return { apiVersion: expected, kind, metadata: {} }
  if (!isObject(value)) throw unrecognized(kind, notAnObject(value), raw)
  checkTypeMetaIsText(kind, value, raw)
  const apiVersion = String(named(value, 'apiversion') ?? '').replace(/^\/(?=[^/]*$)/, '') || expected
  const given = named(value, 'kind') || kind
  if (apiVersion !== expected || given !== kind) throw otherKind(type, apiVersion, String(given), raw)
  if (value['apiVersion'] === apiVersion && value['kind'] && isObject(value['metadata']))
    return value as unknown as KubeObject
  const { apiVersion: _v, kind: _k, metadata, ...rest } = value
  return { apiVersion, kind, metadata: metadata ?? {}, ...rest } as unknown as KubeObject
}

/** Go's decoder ignores the case of field names when it reads the kind. The last one wins. */
function named(value: Record<string, unknown>, lowerCase: string): unknown {
  let found: unknown
  for (const key of Object.keys(value)) if (key.toLowerCase() === lowerCase) found = value[key]
  return found
}

function otherKind(type: ResourceType, apiVersion: string, given: string, raw: Uint8Array | undefined): StatusError {
  const version = parseApiVersion(apiVersion)
  if (!version) return unrecognized(type.kind, `unexpected GroupVersion string: ${apiVersion}`, raw)
  const why = isBuiltIn(version, given)
    ? `converting (${version.version}.${given}) to (${type.group.split('.')[0] || 'core'}.${type.kind}): unknown conversion`
    : `no kind "${given}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:110"`
  return badRequest(`${given} in version "${version.version}" cannot be handled as a ${type.kind}: ${why}`)
}

// Kinds of the core group in kube-apiserver's scheme that a client may send by mistake.
const coreKinds =
  /^(ConfigMap|Secret|Namespace|Event|ServiceAccount|Pod|Node|Service|Endpoints|PersistentVolume)(List)?$/

function isBuiltIn({ group, version }: GroupVersion, kind: string): boolean {
  return group === '' && version === 'v1' && coreKinds.test(kind)
}

/** For custom resources: throws 400 unless the body names the version of the URL and some kind. */
export function requireTypeMeta(type: ResourceType, { value, raw }: RawBody): KubeObject {
  const { kind } = type
  const expected = apiVersionOf(type)
  if (value === null) throw unrecognized(kind, missingKind(value, raw), raw)
  if (!isObject(value)) throw unrecognized(kind, notAnObject(value), raw)
  checkTypeMetaIsText(kind, value, raw)
  if (!value['kind']) throw unrecognized(kind, missingKind(value, raw), raw)
  const apiVersion = typeof value['apiVersion'] === 'string' ? value['apiVersion'] : ''
  if (apiVersion !== expected) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    )
  }
  const object = value as unknown as KubeObject
  return isObject(value['metadata']) || value['metadata'] !== undefined ? object : { ...object, metadata: {} }
}

function missingKind(value: unknown, raw: Uint8Array | undefined): string {
  const text = raw ? Buffer.from(raw).toString('utf8').trim() : stringify(value)
  return `Object 'Kind' is missing in '${text}'`
}

/** 400 for a body without a readable apiVersion and kind. */
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

/** Go reads apiVersion and kind into two strings before the rest of the body. */
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
