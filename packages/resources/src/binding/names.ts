import { createHash } from 'node:crypto'
import { groupKind, type KubeObject } from '@crosstie/kube'
import { withSuffix } from '../metadata/labels.js'

/** The maximum number of names to try. A collision of even the first name has a probability of one in millions. */
const NAME_ATTEMPTS = 16

/**
 * Returns the name of the object that is provisioned for a claim (XN4). Its suffix is derived from the uid of the
 * claim, so concurrent reconciliations of the claim compete for one object.
 */
export function bindableName(claim: KubeObject, attempt = 0): string {
  return nameOf(claim, `offer/${attempt}`)
}

/** Returns the name of the member that a class contributes to the aggregate of a claim. */
export function memberName(
  claim: KubeObject,
  { group, kind }: { group: string; kind: string },
  className: string,
  attempt = 0,
): string {
  return nameOf(claim, `part/${groupKind({ group, kind })}/${className}/${attempt}`)
}

/**
 * Returns whether the name was generated for the claim. Generated names depend on the uid of the claim, so users
 * cannot choose one by accident.
 */
export function isBindableName(claim: KubeObject, name: string): boolean {
  return attempts.some((attempt) => bindableName(claim, attempt) === name)
}

/** The numbers of the attempts to find a free name. */
export const attempts: readonly number[] = Array.from({ length: NAME_ATTEMPTS }, (_, attempt) => attempt)

/**
 * Returns the name of the connection Secret of a resource that is provisioned for a claim. It is known before the
 * resource has a uid.
 */
export function secretName(claim: KubeObject, resource: string): string {
  const hex = createHash('sha256').update(`${claim.metadata.uid}/secret/${resource}`).digest('hex')
  return hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

function nameOf({ metadata: { namespace, name, uid } }: KubeObject, salt: string): string {
  const digest = createHash('sha256').update(`${uid}/${salt}`).digest()
  return withSuffix(namespace ? `${namespace}-${name}` : name!, digest)
}
