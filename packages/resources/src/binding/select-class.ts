import type { KubeObject } from '@crosstie/kube'
import { type ClaimSpec, claimAnnotations, specOf } from '../metadata/binding.js'

/** A class that a claim could get. */
export interface Candidate {
  readonly class: KubeObject
  /** Would it provision anything that this kind of claim may bind to? */
  readonly isSuitable: boolean
}

export type Selected =
  | { readonly class: KubeObject; readonly because: string; readonly others: readonly KubeObject[] }
  | { readonly class: undefined; readonly because: string }

/**
 * The class of a claim that names none: by its selector, or the default if it
 * has no selector either. Of several the first by name, then kind, so that
 * everybody who looks chooses the same one.
 */
export function selectClass(claim: KubeObject, candidates: readonly Candidate[]): Selected {
  const { classSelector } = specOf<ClaimSpec>(claim)
  const labels = Object.entries(classSelector?.matchLabels ?? {})
  const wanted = classSelector
    ? (object: KubeObject) => labels.every(([name, value]) => object.metadata.labels?.[name] === value)
    : isDefault
  const found = candidates.filter((candidate) => wanted(candidate.class))
  const [first, ...others] = found
    .filter(({ isSuitable }) => isSuitable)
    .map((candidate) => candidate.class)
    .sort(byName)
  if (first) return { class: first, because: classSelector ? 'its labels match' : 'it is the default', others }
  const which = classSelector
    ? `a class with labels ${labels.map((pair) => pair.join('=')).join(',')}`
    : 'a default class'
  const nonsense =
    found.length > 0
      ? `; ${found.map(({ class: { kind, metadata } }) => `${kind} ${metadata.name}`).join(', ')} has nothing to offer to a ${claim.kind}`
      : ''
  return { class: undefined, because: `waiting for ${which}${nonsense}` }
}

export const isDefault = ({ metadata }: KubeObject): boolean =>
  metadata.annotations?.[claimAnnotations.defaultClass] === 'true'

function byName(a: KubeObject, b: KubeObject): number {
  const text = ({ kind, metadata }: KubeObject) => `${metadata.name}\n${kind}`
  return text(a) < text(b) ? -1 : 1
}
