import { createHash } from 'node:crypto'
import { groupKind, type KubeObject } from '@crosstie/kube'
import { withSuffix } from '../metadata/labels.js'

/** So many names are tried before giving up; that even the second is taken is one chance in millions. */
const NAME_ATTEMPTS = 16

/**
 * The name of what is provisioned for a claim (XN4). Its random characters are
 * drawn from the claim's uid: everybody who looks at the same claim comes to
 * the same name, so that however many race, they race for one object.
 */
export function bindableName(claim: KubeObject, attempt = 0): string {
  return nameOf(claim, `offer/${attempt}`)
}

/** The name of the part that a class contributes to the aggregate of a claim. */
export function memberName(
  claim: KubeObject,
  { group, kind }: { group: string; kind: string },
  className: string,
  attempt = 0,
): string {
  return nameOf(claim, `part/${groupKind({ group, kind })}/${className}/${attempt}`)
}

/** Did we choose this name for an offer to the claim? Nobody else could have known it. */
export function isBindableName(claim: KubeObject, name: string): boolean {
  return attempts.some((attempt) => bindableName(claim, attempt) === name)
}

export const attempts: readonly number[] = Array.from({ length: NAME_ATTEMPTS }, (_, attempt) => attempt)

/** The name of the Secret that a resource provisioned for a claim writes: known before the resource has a uid. */
export function secretName(claim: KubeObject, resource: string): string {
  const hex = createHash('sha256').update(`${claim.metadata.uid}/secret/${resource}`).digest('hex')
  return hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

function nameOf({ metadata: { namespace, name, uid } }: KubeObject, salt: string): string {
  const digest = createHash('sha256').update(`${uid}/${salt}`).digest()
  return withSuffix(namespace ? `${namespace}-${name}` : name!, digest)
}
