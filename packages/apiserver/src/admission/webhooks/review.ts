import { isObject, messageOf, type ResourceType, type StatusDetails, StatusError } from '@crosstie/kube'
import { userFields } from '../../access/user.js'
import { decodeJson } from '../../wire/json.js'
import { type AdmissionAttributes, admissionNamespace } from './attributes.js'

/** The response of an admission webhook. */
export interface WebhookAnswer {
  readonly allowed: boolean
  readonly status?: Readonly<Record<string, unknown>>
  /** Operations of a JSON patch. */
  readonly patch?: readonly unknown[]
  readonly warnings: readonly string[]
  readonly auditAnnotations: Readonly<Record<string, string>>
}

/** Returns the first version of the list that the server supports. */
export function reviewVersion(offered: readonly string[]): 'v1' | 'v1beta1' {
  for (const version of offered) if (version === 'v1' || version === 'v1beta1') return version
  throw new Error('webhook does not accept known AdmissionReview versions (v1, v1beta1)')
}

/** Returns the `request` of an AdmissionReview without object, oldObject and options, for CEL and for the wire. */
export function admissionRequest(attributes: AdmissionAttributes, address: ResourceType, uid: string): object {
  const { type, subresource, name, operation, user, dryRun } = attributes
  const namespace = admissionNamespace(attributes)
  return {
    ...(uid === '' ? {} : { uid }),
    kind: attributes.kind ?? kindOf(address),
    resource: resourceOf(address),
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: attributes.kind ?? kindOf(type),
    requestResource: resourceOf(type),
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespace === '' ? {} : { namespace }),
    operation,
    userInfo: userFields(user),
    dryRun,
  }
}

const kindOf = ({ group, version, kind }: ResourceType): object => ({ group, version, kind })
const resourceOf = ({ group, version, resource }: ResourceType): object => ({ group, version, resource })

/** Reads and checks the response of a webhook. Throws an error that explains an invalid one. */
export function readAnswer(review: unknown, uid: string, version: 'v1' | 'v1beta1', mutating: boolean): WebhookAnswer {
  const response = isObject(review) ? review['response'] : undefined
  if (!isObject(review) || !isObject(response)) throw new Error('webhook response was absent')
  if (version === 'v1') checkEnvelope(review, response, uid)
  const patch = typeof response['patch'] === 'string' && response['patch'] !== '' ? response['patch'] : undefined
  const patchType = response['patchType']
  if (version === 'v1') checkPatch(patch, patchType, mutating)
  return {
    allowed: response['allowed'] === true,
    ...(isObject(response['status']) ? { status: response['status'] } : {}),
    ...(mutating && patch !== undefined ? patchOf(patch, patchType) : {}),
    warnings: Array.isArray(response['warnings'])
      ? response['warnings'].filter((text) => typeof text === 'string')
      : [],
    auditAnnotations: isObject(response['auditAnnotations'])
      ? (response['auditAnnotations'] as Record<string, string>)
      : {},
  }
}

function checkEnvelope(review: Record<string, unknown>, response: Record<string, unknown>, uid: string): void {
  if (response['uid'] !== uid) {
    const got = typeof response['uid'] === 'string' ? response['uid'] : ''
    throw new Error(`expected response.uid="${uid}", got ${JSON.stringify(got)}`)
  }
  if (review['apiVersion'] !== 'admission.k8s.io/v1' || review['kind'] !== 'AdmissionReview') {
    const apiVersion = typeof review['apiVersion'] === 'string' ? review['apiVersion'] : ''
    const shown = `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${review['kind'] ?? ''}`
    throw new Error(`expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${shown}`)
  }
}

function checkPatch(patch: string | undefined, patchType: unknown, mutating: boolean): void {
  if (!mutating) {
    if (patch !== undefined) throw new Error('validating webhook may not return response.patch')
    if (patchType !== undefined && patchType !== null) {
      throw new Error('validating webhook may not return response.patchType')
    }
    return
  }
  const typed = patchType !== undefined && patchType !== null
  if (patch !== undefined && !typed) throw new Error('webhook returned response.patch but not response.patchType')
  if (patch === undefined && typed) throw new Error('webhook returned response.patchType but not response.patch')
  if (patchType === '') throw new Error('webhook returned invalid response.patchType of ""')
}

/** A class of its own, because its message does not start with "received invalid webhook response". */
export class UnsupportedPatch extends Error {
  override readonly name = 'UnsupportedPatch'
}

function patchOf(patch: string, patchType: unknown): { readonly patch?: readonly unknown[] } {
  let operations: unknown
  try {
    operations = decodeJson(Buffer.from(patch, 'base64')).value
  } catch (cause) {
    throw new UnsupportedPatch(`received undecodable patch in webhook response: ${messageOf(cause)}`, { cause })
  }
  if (operations === null || (Array.isArray(operations) && operations.length === 0)) return {}
  if (!Array.isArray(operations)) {
    const type = isObject(operations) ? 'object' : typeof operations === 'boolean' ? 'bool' : typeof operations
    const why = `json: cannot unmarshal ${type} into Go value of type jsonpatch.Patch`
    throw new UnsupportedPatch(`received undecodable patch in webhook response: ${why}`)
  }
  if (typeof patchType === 'string' && patchType !== 'JSONPatch') {
    throw new UnsupportedPatch(`unsupported patch type "${patchType}"`)
  }
  return { patch: operations }
}

/** Returns the error of a request that a webhook denied, with the code and reason of the webhook. */
export function refusal(webhook: string, status: WebhookAnswer['status']): StatusError {
  const text = (field: string) => (typeof status?.[field] === 'string' ? (status[field] as string) : '')
  const denied = `admission webhook "${webhook}" denied the request`
  const why = text('message') || text('reason')
  const code = typeof status?.['code'] === 'number' && status['code'] >= 400 ? status['code'] : 400
  return new StatusError(
    code,
    text('reason') as StatusError['reason'],
    why ? `${denied}: ${why}` : `${denied} without explanation`,
    {
      ...(isObject(status?.['details']) ? { details: status['details'] as StatusDetails } : {}),
    },
  )
}
