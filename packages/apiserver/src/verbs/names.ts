import { randomInt } from 'node:crypto'
import { badRequest, type KubeObject } from '@crosstie/kube'
import type { WriteRequest } from '../serving/request.js'

const SUFFIX_LENGTH = 5
const NAME_MAX = 63
// No vowels and nothing that looks alike: what Kubernetes uses too.
const SUFFIX_LETTERS = 'bcdfghjklmnpqrstvwxz2456789'

/** For create: the object with its final name and namespace; throws when the URL says otherwise. */
export function named(request: WriteRequest, object: KubeObject): KubeObject {
  const { namespace } = request
  checkNamespace(request, object)
  const { metadata } = object
  // Without a name it is refused later, together with whatever else is wrong with it.
  const name = metadata.name || generated(metadata.generateName) || ''
  if (name === metadata.name && (metadata.namespace ?? '') === namespace) return object
  const { namespace: _, ...rest } = metadata
  return { ...object, metadata: { ...rest, name, ...(namespace ? { namespace } : {}) } }
}

/** For update and apply: the object must say who it is, and say what the URL says. */
export function sameAsUrl(request: WriteRequest, object: KubeObject): KubeObject {
  const { namespace, name: expected } = request
  // A patch may have taken all of it away.
  const { name, namespace: given } = object.metadata ?? {}
  if (!name)
    throw badRequest(`the name of the object (${expected} based on URL) was undeterminable: name must be provided`)
  if (name !== expected)
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${expected})`)
  checkNamespace(request, object)
  return (given ?? '') === namespace ? object : { ...object, metadata: { ...object.metadata, namespace } }
}

function checkNamespace({ served, namespace }: WriteRequest, { metadata }: KubeObject): void {
  const given = metadata.namespace ?? ''
  if (!served.definition.namespaced || given === '' || given === namespace) return
  throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
}

function generated(base: string | undefined): string {
  if (!base) return ''
  let suffix = ''
  for (let i = 0; i < SUFFIX_LENGTH; i++) suffix += SUFFIX_LETTERS[randomInt(SUFFIX_LETTERS.length)]
  return base.slice(0, NAME_MAX - SUFFIX_LENGTH) + suffix
}
