import { randomUUID } from 'node:crypto'
import {
  apiVersionOf,
  clone,
  equal,
  fieldErrorText,
  isObject,
  type KubeObject,
  messageOf,
  quote,
  StatusError,
  validateAnnotations,
  validateLabels,
} from '@crosstie/kube'
import { type ClientConfig, Endpoint } from '../transport/webhook-call.js'
import type { CustomResourceDefinition } from './crd.js'
import type { Definition } from './definition.js'
import { goType } from './scale.js'

const CALL_TIMEOUT_SECONDS = 30

/** Returns the conversion of a CRD by its webhook. All objects are converted in one call. */
export function webhookConversion(crd: CustomResourceDefinition): NonNullable<Definition['convert']> {
  const { group, conversion } = crd.spec
  const { clientConfig = {}, conversionReviewVersions = [] } = conversion?.webhook ?? {}
  let endpoint: Endpoint | undefined
  return async (objects, version, signal) => {
    const apiVersion = apiVersionOf({ group, version })
    const toConvert = objects.filter((object) => object.apiVersion !== apiVersion)
    if (toConvert.length === 0) return objects
    const review = reviewVersion(conversionReviewVersions)
    endpoint ??= new Endpoint(clientConfig as ClientConfig)
    const converted = await call(endpoint, review, toConvert, apiVersion, signal)
    const results = toConvert.map((original, i) => checkedConversion(original, converted[i], apiVersion))
    let next = 0
    return objects.map((object) => (object.apiVersion === apiVersion ? object : results[next++]!))
  }
}

const failure = (message: string) => new StatusError(500, '', message)

/** The object as messages name it. A call for several objects names the first. */
const nameOf = ({ apiVersion, kind }: KubeObject) => `conversion webhook for ${kindText(apiVersion, kind)}`

function kindText(apiVersion: string, kind: string): string {
  return `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${kind}`
}

function reviewVersion(versions: readonly string[]): 'v1' | 'v1beta1' {
  const known = versions.find((version) => version === 'v1' || version === 'v1beta1')
  if (!known) throw failure('no supported conversion review versions')
  return known as 'v1' | 'v1beta1'
}

async function call(
  endpoint: Endpoint,
  version: 'v1' | 'v1beta1',
  objects: readonly KubeObject[],
  desiredAPIVersion: string,
  signal: AbortSignal | undefined,
): Promise<readonly unknown[]> {
  const uid = randomUUID()
  const review = {
    kind: 'ConversionReview',
    apiVersion: `apiextensions.k8s.io/${version}`,
    request: { uid, desiredAPIVersion, objects },
    response: { uid: '', convertedObjects: null, result: { metadata: {} } },
  }
  let converted: readonly unknown[]
  try {
    converted = answerOf(await endpoint.post(review, CALL_TIMEOUT_SECONDS, signal), version, uid)
  } catch (error) {
    throw failure(`${nameOf(objects[0]!)} failed: ${messageOf(error)}`)
  }
  if (converted.length !== objects.length) {
    const counts = `returned ${converted.length} objects, expected ${objects.length}`
    throw failure(`${nameOf(objects[0]!)} ${counts}`)
  }
  return converted
}

const ENVELOPE =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

function answerOf(answer: unknown, version: 'v1' | 'v1beta1', uid: string): readonly unknown[] {
  if (!isObject(answer)) {
    const word = Array.isArray(answer) ? 'array' : typeof answer === 'boolean' ? 'bool' : typeof answer
    const why = `json: cannot unmarshal ${word} into Go value of type ${ENVELOPE}`
    throw new Error(`couldn't get version/kind; json parse error: ${why}`)
  }
  const { kind = '', apiVersion = '', response } = answer
  const isReview = kind === 'ConversionReview' && /^apiextensions\.k8s\.io\/v1(beta1)?$/.test(String(apiVersion))
  if (!isReview) {
    const scheme = 'in scheme "pkg/runtime/scheme.go:110"'
    throw new Error(`no kind ${quote(String(kind))} is registered for version ${quote(String(apiVersion))} ${scheme}`)
  }
  if (version === 'v1' && apiVersion !== 'apiextensions.k8s.io/v1') {
    const got = kindText(String(apiVersion), kind)
    throw new Error(`expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got ${got}`)
  }
  if (!isObject(response)) throw new Error('no response provided')
  const given = String(response['uid'] ?? '')
  if (version === 'v1' && given !== uid) {
    throw new Error(`expected response.uid=${quote(uid)}, got ${quote(given)}`)
  }
  const { status = '', message = '' } = (response['result'] ?? {}) as Record<string, string>
  if (status !== 'Success') {
    throw new Error(message || `response.result.status was '${status}', not 'Success'`)
  }
  return (response['convertedObjects'] ?? []) as readonly unknown[]
}

/**
 * Checks that the webhook returned the same object in the requested version. Returns it with the metadata of the
 * original.
 */
function checkedConversion(original: KubeObject, converted: unknown, apiVersion: string): KubeObject {
  const refuse = (where: string, why: string) => failure(`${nameOf(original)} returned invalid ${where}: ${why}`)
  const got = (isObject(converted) ? converted : {}) as Partial<KubeObject>
  if (got.apiVersion !== apiVersion) {
    const why = `invalid groupVersion (expected ${apiVersion}, received ${got.apiVersion ?? ''})`
    throw refuse('object at index 0', why)
  }
  if (got.kind !== original.kind) {
    throw refuse('object at index 0', `invalid kind (expected ${original.kind}, received ${got.kind ?? ''})`)
  }
  for (const [field, word] of [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['uid', 'UID'],
  ] as const) {
    const [before, after] = [original.metadata[field] ?? '', metaField(got, field)]
    if (before !== after) throw refuse('object', `must have the same ${word}: ${before} != ${after}`)
  }
  return { ...(got as KubeObject), metadata: restored(original, got, (why) => refuse('metadata', why)) }
}

function metaField(object: Partial<KubeObject>, field: 'name' | 'namespace' | 'uid'): string {
  const value = isObject(object.metadata) ? object.metadata[field] : undefined
  return typeof value === 'string' ? value : ''
}

/** A webhook may change labels and annotations, but no other metadata. */
function restored(original: KubeObject, converted: Partial<KubeObject>, refuse: (why: string) => Error) {
  const given: unknown = converted.metadata
  if (given === undefined) throw refuse('missing metadata in converted object')
  if (!isObject(given)) throw refuse(`invalid metadata of type ${goType(given)} in converted object`)
  const { labels: _l, annotations: _a, ...rest } = original.metadata
  const changed: { labels?: Record<string, string>; annotations?: Record<string, string> } = {}
  for (const field of ['labels', 'annotations'] as const) {
    const value = given[field] ?? undefined
    if (value === undefined) continue
    if (!isObject(value)) throw refuse(`invalid metadata.${field} of type ${goType(value)} in converted object`)
    for (const [key, text] of Object.entries(value)) {
      if (typeof text === 'string') continue
      throw refuse(`metadata.${field}[${key}] must be a string, but is ${goType(text)} in converted object`)
    }
    const strings = clone(value) as Record<string, string>
    if (!equal(strings, original.metadata[field] ?? {})) checkStrings(field, strings, refuse)
    changed[field] = strings
  }
  return { ...rest, ...changed }
}

function checkStrings(
  field: 'labels' | 'annotations',
  strings: Record<string, string>,
  refuse: (why: string) => Error,
) {
  const errors =
    field === 'labels'
      ? validateLabels(strings, 'metadata.labels')
      : validateAnnotations(strings, 'metadata.annotation')
  if (errors.length === 0) return
  const texts = [...new Set(errors.map(fieldErrorText))]
  throw refuse(texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`)
}
