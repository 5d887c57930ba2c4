import { apiVersionOf, type KubeObject } from '@crosstie/kube'
import type { Binding } from '../definition/claim.js'
import { type FoundNode, fieldsBelow, referenceFields } from '../definition/schema.js'
import {
  type BindableSpec,
  type Entry,
  entriesOf,
  type Phase,
  phaseOf,
  type Reference,
  refersTo,
  specOf,
} from '../metadata/binding.js'
import { isSelected, type ObjectSelector, referrerOf } from '../reference/resolve.js'
import { chosenBy } from './provision.js'
import type { BindingRuntime } from './runtime.js'

/** A managed resource that matches an aggregate, and its binding. */
export interface Member {
  readonly binding: Binding
  readonly object: KubeObject
}

/** Returns the id of a member, unique within an aggregate. */
export const memberId = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.name}`

/**
 * Returns all managed resources with the labels of the aggregate, of the kinds of this process, regardless of their
 * owner.
 */
export async function matching(
  runtime: BindingRuntime,
  aggregate: KubeObject,
  since?: string,
): Promise<readonly Member[]> {
  const rule = specOf<{ aggregationRule?: { resourceSelector?: unknown } }>(aggregate).aggregationRule
  const labels = chosenBy(rule?.resourceSelector)
  if (!labels) return []
  const kinds = new Map(runtime.bindings.map((binding) => [binding.managed.type, binding]))
  const found = await Promise.all(
    [...kinds.values()].map(async (binding) => {
      return (await runtime.find(binding.managed.type, labels, since)).map((object) => ({ binding, object }))
    }),
  )
  return found.flat()
}

/** Returns whether the resource is bound to this aggregate. */
export const isMemberOf = (object: KubeObject, aggregate: KubeObject): boolean =>
  specOf<BindableSpec>(object).aggregateRef?.uid === aggregate.metadata.uid

/** Returns whether the resource is bound to neither a claim nor an aggregate and is not being deleted. */
export function isFree(object: KubeObject): boolean {
  const { claimRef, aggregateRef } = specOf<BindableSpec>(object)
  return !claimRef?.name && !aggregateRef?.name && !object.metadata.deletionTimestamp
}

/** Sorts members in a deterministic order: main resources first, then by kind and class. */
export function inOrder(members: readonly Member[]): readonly Member[] {
  const text = ({ binding, object }: Member) =>
    [
      binding.role === 'main' ? 0 : 1,
      object.kind,
      specOf<BindableSpec>(object).classRef?.name ?? '',
      object.metadata.name,
    ].join('\n')
  return [...members].sort((a, b) => (text(a) < text(b) ? -1 : 1))
}

/** Returns the status entries of the members. Entries of kinds that this process does not know are kept unchanged. */
export function entriesFor(
  runtime: BindingRuntime,
  aggregate: KubeObject,
  members: readonly Member[],
  phase: (member: Member) => Phase,
): readonly Entry[] {
  const known = (entry: Entry) => runtime.bindings.some(({ managed }) => refersTo(entry, managed.type))
  const others = entriesOf(aggregate).filter((entry) => !known(entry))
  const ours = members.map((member) => ({
    apiVersion: apiVersionOf(member.binding.managed.type),
    kind: member.object.kind,
    name: member.object.metadata.name!,
    uid: member.object.metadata.uid!,
    bindingPhase: phase(member),
  }))
  return [...ours, ...others]
}

/** Returns the binding phase of a member. It becomes Bound when the member is ready, and stays Bound. */
export const phaseFor = (ready: boolean, object: KubeObject): Phase =>
  ready || phaseOf(object) === 'Bound' ? 'Bound' : 'Unbindable'

/**
 * Returns the objects that a member refers to, as `Kind/name`. For an unresolved selector, returns all members that
 * it matches, since it may be resolved concurrently.
 */
export function needsOf({ binding, object }: Member, members: readonly Member[], only = anyField): readonly string[] {
  const spec = specOf<{ forProvider?: Values; initProvider?: Values }>(object)
  const fields = [...fieldsBelow(binding.managed.parameters)].filter(({ node }) => node.reference)
  return [spec.forProvider, spec.initProvider].flatMap((values) =>
    values
      ? fields
          .filter((field) => only(values, field))
          .flatMap((field) => [...referred(values, field), ...choosable(object, values, field, members)])
      : [],
  )
}

const anyField = (_values: Values, _field: FoundNode): boolean => true

/** Returns the objects that must provide a value before the member can be created. */
export const openNeedsOf = (member: Member, members: readonly Member[]): readonly string[] =>
  needsOf(member, members, (values, { path }) => parentOf(values, path)?.[path.at(-1)!] === undefined)

/**
 * Sorts members that are not ready, causes before effects. A member that waits for a value of a kind with another
 * unready member comes last.
 */
export function causesFirst(unready: readonly Member[]): readonly Member[] {
  const kinds = new Set(unready.map(({ object }) => object.kind))
  const isEffect = (member: Member) => openKinds(member).some((kind) => kinds.has(kind))
  return [...unready.filter((member) => !isEffect(member)), ...unready.filter(isEffect)]
}

/** Returns the kinds of the objects that must provide missing values of the member. */
function openKinds({ binding, object }: Member): readonly string[] {
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

/** Returns the members that an unresolved selector matches. */
function choosable(
  object: KubeObject,
  values: Values,
  { path, node }: FoundNode,
  members: readonly Member[],
): readonly string[] {
  const { ref, selector } = referenceFields(path.at(-1)!, node)
  const parent = parentOf(values, path)
  const choosing = parent?.[selector] as ObjectSelector | undefined
  if (!choosing || parent?.[ref] !== undefined) return []
  const type = node.reference!.to()
  const from = referrerOf(object)
  return members
    .filter(
      (member) =>
        member.object !== object && refersTo(member.object, type) && isSelected(from, choosing, member.object),
    )
    .map((member) => memberId(member.object))
}
