import { conflict, fieldErrors, forbidden, invalid, type KubeObject, StatusError } from '@crosstie/kube'
import { forbiddenError } from '../access/authorize.js'
import type { Engine } from '../serving/engine.js'
import type { WriteRequest } from '../serving/request.js'
import { integerFault } from '../wire/integer.js'

const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again'

/** Throws 409 when the write names the uid of another object than the live one. */
export function checkUid({ served, name, namespace }: WriteRequest, given: KubeObject, live: KubeObject): void {
  const { uid } = given.metadata
  if (!uid || uid === live.metadata.uid) return
  const { group, resource } = served.type
  const key = `/registry/${group ? `${group}/` : ''}${resource}/${namespace ? `${namespace}/` : ''}${name}`
  const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${live.metadata.uid}`
  const storage = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`
  throw conflict(served.type, name, storage)
}

/**
 * Throws 409 when the write names another resourceVersion than the live one, and 422 when it names none and the kind
 * requires one.
 */
export function checkRevision(
  { served, name }: WriteRequest,
  given: KubeObject,
  live: KubeObject,
  unconditional: boolean,
): void {
  const { resourceVersion } = given.metadata
  if (resourceVersion && resourceVersion === live.metadata.resourceVersion) return
  const fault = resourceVersion && integerFault(resourceVersion, 'ParseUint')
  if (fault) throw new StatusError(500, '', fault)
  if (!resourceVersion || resourceVersion === '0') {
    if (unconditional) return
    const { group, resource } = served.type
    throw invalid({ group, kind: resource }, name, [
      fieldErrors.invalid('metadata.resourceVersion', 0, 'must be specified for an update'),
    ])
  }
  throw conflict(served.type, name, MODIFIED)
}

/** Throws 403 for a new object of a kind that accepts none, since its CRD is under deletion. */
export function checkDefinitionStays({ served }: WriteRequest, { metadata }: KubeObject): void {
  const { createRefusal } = served.definition
  if (createRefusal) throw forbidden(served.type, metadata.name ?? '', createRefusal)
}

/** Throws 403 when an update or apply would create the object and the user may not create it. */
export function checkMayCreate({ authorizer }: Engine, { served, namespace, name, user }: WriteRequest): void {
  const { group, resource } = served.type
  const attributes = { user, verb: 'create', group, resource, subresource: '', namespace, name }
  const { allowed, reason } = authorizer.authorize(attributes)
  if (!allowed) throw forbiddenError(attributes, reason)
}

/**
 * Throws 500 for a new object with a resourceVersion, as etcd3 storage of kube-apiserver does: after validation, not in a dry
 * run, and not for a text that is not a number.
 */
export function checkNoRevision({ metadata: { resourceVersion = '' } }: KubeObject): void {
  if (!/^0*[1-9]\d*$/.test(resourceVersion)) return
  throw new StatusError(500, '', 'resourceVersion should not be set on objects to be created')
}
