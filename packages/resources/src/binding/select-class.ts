import type { KubeObject } from '@crosstie/kube'
import { type ClaimSpec, claimAnnotations, specOf } from '../metadata/binding.js'

/** A class that a claim could use. */
export interface Candidate {
  readonly class: KubeObject
  /** Whether it would provision a resource that this kind of claim can bind to. */
  readonly isSuitable: boolean
}

/** The result of `selectClass`. */
export type Selected =
  | { readonly class: KubeObject; readonly because: string; readonly others: readonly KubeObject[] }
  | { readonly class: undefined; readonly because: string }

/**
 * Selects the class of a claim that names none: by its selector, or the default class if it has no selector. Of
 * several classes, the first by name and kind is selected, so the result is deterministic.
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

/** Returns whether the class is a default class. */
export const isDefault = ({ metadata }: KubeObject): boolean =>
  metadata.annotations?.[claimAnnotations.defaultClass] === 'true'

function byName(a: KubeObject, b: KubeObject): number {
  const text = ({ kind, metadata }: KubeObject) => `${metadata.name}\n${kind}`
  return text(a) < text(b) ? -1 : 1
}
