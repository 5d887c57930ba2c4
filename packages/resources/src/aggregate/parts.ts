import { apiVersionOf, type KubeObject } from '@crosstie/kube'
import type { Binding } from '../claim/define.js'
import type { Kit } from '../claim/kit.js'
import { type OfferSpec, type Phase, phaseOf, type Reference, refersTo, specOf } from '../claim/words.js'
import { chosenBy } from '../class/provision.js'
import { type FoundNode, fieldsBelow, referenceFields } from '../definition/schema.js'
import { isSelected, type ObjectSelector, referrerOf } from '../reference/resolve.js'

/** A managed resource that matches an aggregate, and how it comes to. */
export interface Part {
  readonly binding: Binding
  readonly object: KubeObject
}

/** What an aggregate's status says of a part. */
export interface Entry extends Reference {
  readonly bindingPhase?: Phase
}

export const entriesOf = (aggregate: KubeObject): readonly Entry[] =>
  (aggregate['status'] as { aggregatedResources?: readonly Entry[] } | undefined)?.aggregatedResources ?? []

/** Names a part among all parts of an aggregate. */
export const partId = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.name}`

/** All managed resources with the labels of the aggregate, of the kinds that are known here, whoever holds them. */
export async function matching(kit: Kit, aggregate: KubeObject, since?: string): Promise<readonly Part[]> {
  const rule = specOf<{ aggregationRule?: { resourceSelector?: unknown } }>(aggregate).aggregationRule
  const labels = chosenBy(rule?.resourceSelector)
  if (!labels) return []
  const kinds = new Map(kit.bindings.map((binding) => [binding.managed.type, binding]))
  const found = await Promise.all(
    [...kinds.values()].map(async (binding) => {
      return (await kit.find(binding.managed.type, labels, since)).map((object) => ({ binding, object }))
    }),
  )
  return found.flat()
}

/** Is the part bound to this aggregate? */
export const isPartOf = (object: KubeObject, aggregate: KubeObject): boolean =>
  specOf<OfferSpec>(object).aggregateRef?.uid === aggregate.metadata.uid

export function isFree(object: KubeObject): boolean {
  const { claimRef, aggregateRef } = specOf<OfferSpec>(object)
  return !claimRef?.name && !aggregateRef?.name && !object.metadata.deletionTimestamp
}

/** Main parts first, then by kind and class: an order that does not depend on chance. */
export function inOrder(parts: readonly Part[]): readonly Part[] {
  const text = ({ binding, object }: Part) =>
    [
      binding.role === 'main' ? 0 : 1,
      object.kind,
      specOf<OfferSpec>(object).classRef?.name ?? '',
      object.metadata.name,
    ].join('\n')
  return [...parts].sort((a, b) => (text(a) < text(b) ? -1 : 1))
}

/** What the status says of the parts; those of kinds that are not known here stay as others left them. */
export function entriesFor(
  kit: Kit,
  aggregate: KubeObject,
  parts: readonly Part[],
  phase: (part: Part) => Phase,
): readonly Entry[] {
  const known = (entry: Entry) => kit.bindings.some(({ managed }) => refersTo(entry, managed.type))
  const others = entriesOf(aggregate).filter((entry) => !known(entry))
  const ours = parts.map((part) => ({
    apiVersion: apiVersionOf(part.binding.managed.type),
    kind: part.object.kind,
    name: part.object.metadata.name!,
    uid: part.object.metadata.uid!,
    bindingPhase: phase(part),
  }))
  return [...ours, ...others]
}

/** A part is ready to be bound when it is ready, and stays bound. */
export const phaseFor = (ready: boolean, object: KubeObject): Phase =>
  ready || phaseOf(object) === 'Bound' ? 'Bound' : 'Unbindable'

/**
 * Which other objects the part refers to, as `Kind/name`. Where it has yet to
 * choose, all that it may choose among `parts`: perhaps it is doing so just now.
 */
export function needsOf({ binding, object }: Part, parts: readonly Part[], only = anyField): readonly string[] {
  const spec = specOf<{ forProvider?: Values; initProvider?: Values }>(object)
  const fields = [...fieldsBelow(binding.managed.parameters)].filter(({ node }) => node.reference)
  return [spec.forProvider, spec.initProvider].flatMap((values) =>
    values
      ? fields
          .filter((field) => only(values, field))
          .flatMap((field) => [...referred(values, field), ...choosable(object, values, field, parts)])
      : [],
  )
}

const anyField = (_values: Values, _field: FoundNode): boolean => true

/** Which other parts have to give the part a value before it can be made. */
export const openNeedsOf = (part: Part, parts: readonly Part[]): readonly string[] =>
  needsOf(part, parts, (values, { path }) => parentOf(values, path)?.[path.at(-1)!] === undefined)

/**
 * Those that are not ready, causes before effects: a part that waits for a
 * value of a kind of which another part is not ready either comes last.
 */
export function causesFirst(unready: readonly Part[]): readonly Part[] {
  const kinds = new Set(unready.map(({ object }) => object.kind))
  const isEffect = (part: Part) => openKinds(part).some((kind) => kinds.has(kind))
  return [...unready.filter((part) => !isEffect(part)), ...unready.filter(isEffect)]
}

/** The kinds of objects that give values which the part does not have yet. */
function openKinds({ binding, object }: Part): readonly string[] {
  const { forProvider } = specOf<{ forProvider?: Values }>(object)
  return [...fieldsBelow(binding.managed.parameters)].flatMap(({ path, node }) => {
    const parent = node.reference && parentOf(forProvider, path)
    const { ref, selector } = referenceFields(path.at(-1)!, node)
    const isOpen = parent && parent[path.at(-1)!] === undefined && (parent[ref] ?? parent[selector]) !== undefined
    return isOpen ? [node.reference!.to().kind] : []
  })
}

type Values = Readonly<Record<string, unknown>>

const parentOf = (values: Values | undefined, path: readonly string[]): Values | undefined =>
  path.slice(0, -1).reduce<Values | undefined>((at, name) => at?.[name] as Values | undefined, values)

function referred(values: Values, { path, node }: FoundNode): readonly string[] {
  const { ref } = referenceFields(path.at(-1)!, node)
  const held = parentOf(values, path)?.[ref] as Reference | readonly Reference[] | undefined
  const references = (Array.isArray(held) ? held : held ? [held] : []) as readonly Reference[]
  return references.map(({ name }) => `${node.reference!.to().kind}/${name}`)
}

/** What a selector matches that has not chosen yet. */
function choosable(
  object: KubeObject,
  values: Values,
  { path, node }: FoundNode,
  parts: readonly Part[],
): readonly string[] {
  const { ref, selector } = referenceFields(path.at(-1)!, node)
  const parent = parentOf(values, path)
  const choosing = parent?.[selector] as ObjectSelector | undefined
  if (!choosing || parent?.[ref] !== undefined) return []
  const type = node.reference!.to()
  const from = referrerOf(object)
  return parts
    .filter((part) => part.object !== object && refersTo(part.object, type) && isSelected(from, choosing, part.object))
    .map((part) => partId(part.object))
}
