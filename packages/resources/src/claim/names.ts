import { createHash } from 'node:crypto'
import { groupKind, type KubeObject } from '@crosstie/kube'

/** No vowels, and nothing that looks like something else: as the API server's generateName has it. */
const LETTERS = 'bcdfghjklmnpqrstvwxz2456789'
const RANDOM_LENGTH = 5
/** A resource's name may be a label value too. */
const NAME_MAX = 63

/** So many names are tried before giving up; that even the second is taken is one chance in millions. */
const NAME_ATTEMPTS = 16

/**
 * The name of what is provisioned for a claim (XN4). Its random characters are
 * drawn from the claim's uid: everybody who looks at the same claim comes to
 * the same name, so that however many race, they race for one object.
 */
export function offerName(claim: KubeObject, attempt = 0): string {
  return nameOf(claim, `offer/${attempt}`)
}

/** The name of the part that a class contributes to the aggregate of a claim. */
export function partName(
  claim: KubeObject,
  { group, kind }: { group: string; kind: string },
  className: string,
  attempt = 0,
): string {
  return nameOf(claim, `part/${groupKind({ group, kind })}/${className}/${attempt}`)
}

/** Did we choose this name for an offer to the claim? Nobody else could have known it. */
export function isOfferName(claim: KubeObject, name: string): boolean {
  return attempts.some((attempt) => offerName(claim, attempt) === name)
}

export const attempts: readonly number[] = Array.from({ length: NAME_ATTEMPTS }, (_, attempt) => attempt)

/** The name of the Secret that a resource provisioned for a claim writes: known before the resource has a uid. */
export function secretName(claim: KubeObject, resource: string): string {
  const hex = createHash('sha256').update(`${claim.metadata.uid}/secret/${resource}`).digest('hex')
  return hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** The value as a label may hold it: what is too long is told apart by its end. */
export function labelValue(text: string): string {
  return text.length <= NAME_MAX ? text : shortened(text, createHash('sha256').update(text).digest())
}

function nameOf({ metadata: { namespace, name, uid } }: KubeObject, salt: string): string {
  const digest = createHash('sha256').update(`${uid}/${salt}`).digest()
  return shortened(namespace ? `${namespace}-${name}` : name!, digest)
}

function shortened(prefix: string, digest: Buffer): string {
  let random = ''
  for (let i = 0; i < RANDOM_LENGTH; i++) random += LETTERS[digest.readUInt32BE(i * 4) % LETTERS.length]
  return `${prefix.slice(0, NAME_MAX - RANDOM_LENGTH - 1).replace(/[-.]+$/, '')}-${random}`
}
