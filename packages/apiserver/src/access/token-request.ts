import {
  badRequest,
  conflict,
  fieldErrors,
  invalid,
  isObject,
  type KubeObject,
  notFound,
  parseApiVersion,
  timestamp,
} from '@crosstie/kube'
import type { Store } from '../store/store.js'
import type { BoundObject, ServiceAccountTokens } from './tokens.js'

const KIND = { group: 'authentication.k8s.io', kind: 'TokenRequest' }
const DEFAULT_SECONDS = 3600
const MIN_SECONDS = 600
const MAX_SECONDS = 2 ** 32

/** Issues a token for a TokenRequest. Throws the StatusError of kube-apiserver. */
export function requestToken(
  objects: Pick<Store, 'get'>,
  tokens: ServiceAccountTokens,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  request: KubeObject,
  now: number,
): KubeObject {
  if (request.metadata.name && request.metadata.name !== name) {
    const why = 'must match the service account name if specified'
    throw invalid(KIND, name, [fieldErrors.invalid('metadata.name', request.metadata.name, why)])
  }
  if (request.metadata.namespace && request.metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }

  const account = objects.get(`//serviceaccounts/${namespace}/${name}`)?.object
  if (!account) throw notFound({ group: '', resource: 'serviceaccounts' }, name)
  const { uid } = account.metadata
  if (request.metadata.uid && request.metadata.uid !== uid) {
    const why = `the UID in the token request (${request.metadata.uid}) does not match the UID of the service account (${uid})`
    throw conflict({ group: KIND.group, resource: KIND.kind }, name, why)
  }

  const spec = isObject(request['spec']) ? request['spec'] : {}
  const asked = Array.isArray(spec['audiences']) ? spec['audiences'].filter((item) => typeof item === 'string') : []
  const audiences = asked.length > 0 ? asked : tokens.audiences
  const seconds = secondsOf(spec['expirationSeconds'])
  const reference = isObject(spec['boundObjectRef']) ? spec['boundObjectRef'] : undefined
  const bound = reference && boundObject(objects, namespace, reference)

  return {
    apiVersion: `${KIND.group}/v1`,
    kind: KIND.kind,
    metadata: { ...request.metadata, name, namespace, uid, creationTimestamp: timestamp(now) },
    spec: { audiences, expirationSeconds: seconds, boundObjectRef: reference ?? null },
    status: {
      token: tokens.issue(account, audiences, seconds, bound),
      expirationTimestamp: timestamp(now + seconds * 1000),
    },
  }
}

function secondsOf(value: unknown): number {
  if (value === undefined || value === null) return DEFAULT_SECONDS
  const seconds = Number(value)
  const complain = (why: string) => invalid(KIND, '', [fieldErrors.invalid('spec.expirationSeconds', value, why)])
  if (seconds < MIN_SECONDS) throw complain('may not specify a duration less than 10 minutes')
  if (seconds > MAX_SECONDS) throw complain('may not specify a duration larger than 2^32 seconds')
  return seconds
}

function boundObject(objects: Pick<Store, 'get'>, namespace: string, reference: Record<string, unknown>): BoundObject {
  const text = (field: string) => (typeof reference[field] === 'string' ? reference[field] : '')
  const { group, version } = parseApiVersion(text('apiVersion')) ?? { group: '', version: '' }
  const kind = text('kind')
  const name = text('name')
  // Kubernetes also binds tokens to pods and nodes, which do not exist here.
  if (group === '' && (kind === 'Pod' || kind === 'Node')) {
    throw notFound({ group: '', resource: `${kind.toLowerCase()}s` }, name)
  }
  if (group !== '' || kind !== 'Secret') {
    throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`)
  }
  const secret = objects.get(`//secrets/${namespace}/${name}`)?.object
  if (!secret) throw notFound({ group: '', resource: 'secrets' }, name)
  const uid = secret.metadata.uid!
  if (text('uid') !== '' && text('uid') !== uid) {
    const why = `the UID in the bound object reference (${text('uid')}) does not match the UID in record. The object might have been deleted and then recreated`
    throw conflict({ group: '', resource: 'Secret' }, name, why)
  }
  return { kind: 'secret', name, uid }
}
