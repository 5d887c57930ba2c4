import {
  type Client,
  conditionsOf,
  findFieldValue,
  isNotFound,
  type KubeObject,
  messageOf,
  type OwnerReference,
  type ResourceType,
} from '@crosstie/kube'
import { externalNameOf, haveSameController } from '../metadata/metadata.js'

/** A reference to another object, and its resolution policy. */
export interface ObjectReference {
  readonly name: string
  readonly namespace?: string
  readonly policy?: ResolutionPolicy
}

/** When a reference is resolved, and whether it may stay unresolved. */
export interface ResolutionPolicy {
  readonly resolve?: 'Always' | 'IfNotPresent'
  readonly resolution?: 'Required' | 'Optional'
}

/** A selector of objects to refer to. */
export interface ObjectSelector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchControllerRef?: boolean
  /** The object must belong to the same aggregate. */
  readonly matchAggregate?: boolean
  /** The object must have been provisioned by this class. */
  readonly matchClassRef?: { readonly name: string }
  readonly namespace?: string
  readonly policy?: ResolutionPolicy
}

/** The object that holds the reference. */
export interface Referrer {
  readonly deleted: boolean
  readonly owners: readonly OwnerReference[] | undefined
  /** The namespace of a namespaced referrer. It is the default namespace of its references. */
  readonly namespace?: string | undefined
  readonly aggregate?: { readonly name?: string; readonly uid?: string } | undefined
}

/** The target of a reference: its type, and how to extract the value. */
export interface Target {
  readonly type: ResourceType
  readonly extract: (object: KubeObject) => string
}

/** A reference that could not be resolved. `why` classifies the reason. */
export class UnresolvedError extends Error {
  override readonly name = 'UnresolvedError'
  readonly why: 'noValue' | 'noMatches' | 'getNotFound' | 'getFailed' | 'listFailed'

  constructor(why: UnresolvedError['why'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.why = why
  }
}

/** The resolved value of a field, and its reference. */
export interface One {
  readonly value: string
  readonly reference: ObjectReference | undefined
}

/** The resolved values of a list field, and their references. */
export interface Many {
  readonly values: readonly string[]
  readonly references: readonly ObjectReference[]
}

type Reader = Pick<Client, 'get' | 'list'>

const isAlways = (policy: ResolutionPolicy | undefined): boolean => policy?.resolve === 'Always'
const isOptional = (policy: ResolutionPolicy | undefined): boolean => policy?.resolution === 'Optional'

/**
 * Returns the external name of an object. The name of an object that a class provisioned is confirmed only once the
 * object has the external resource. A claim may name a resource of another owner, and other members of its
 * aggregate must not refer to that resource.
 */
function confirmedName(object: KubeObject): string {
  const { classRef } = (object['spec'] ?? {}) as { classRef?: object }
  return classRef === undefined || hasExternal(object) ? externalNameOf(object) : ''
}

const refusals = new Set(['ExternalNameTaken', 'ExternalNameForbidden'])

function hasExternal(object: KubeObject): boolean {
  const { externalName } = (object['status'] ?? {}) as { externalName?: string }
  const synced = conditionsOf(object).find(({ type }) => type === 'Synced')
  return !refusals.has(synced?.reason ?? '') && (synced?.status === 'True' || externalName !== undefined)
}

/** Returns a function that extracts the value at a path of an object. Without a path, it extracts the external name. */
export function extractor(path: string | undefined): (object: KubeObject) => string {
  if (path === undefined) return confirmedName
  return (object) => {
    const value = findFieldValue(object, path)
    return value === undefined || value === null ? '' : String(value)
  }
}

/**
 * Resolves one field. A selector determines the reference, and the reference determines the value. An existing
 * value is kept unless the policy is Always.
 */
export async function resolveOne(
  reader: Reader,
  from: Referrer,
  target: Target,
  given: One & { readonly selector: ObjectSelector | undefined },
): Promise<One> {
  const { value, reference, selector } = given
  const asIs = { value, reference }
  if (from.deleted || (!reference && !selector)) return asIs
  const again = selector ? isAlways(selector.policy) : isAlways(reference?.policy)
  if (value !== '' && !again) return asIs

  if (reference && !(selector && again)) {
    const object = await follow(reader, from, target, reference)
    if (!object) return { value: '', reference: undefined }
    return { value: extracted(target, object, reference.policy), reference }
  }
  const [match] = await select(reader, from, target, selector!)
  if (!match && isOptional(selector?.policy)) return { value: '', reference: undefined }
  if (!match) throw new UnresolvedError('noMatches', 'no resources matched selector')
  return { value: extracted(target, match, selector?.policy), reference: referenceTo(from, match) }
}

/** Resolves a list field. Selected values are sorted and unique. References keep their order. */
export async function resolveMany(
  reader: Reader,
  from: Referrer,
  target: Target,
  given: Many & { readonly selector: ObjectSelector | undefined },
): Promise<Many> {
  const { values, references, selector } = given
  const asIs = { values, references }
  if (from.deleted || (references.length === 0 && !selector)) return asIs
  const again = selector ? isAlways(selector.policy) : references.some(({ policy }) => isAlways(policy))
  if (values.length > 0 && !again) return asIs

  if (references.length > 0 && !(selector && again)) {
    const found: KubeObject[] = []
    for (const reference of references) {
      const object = await follow(reader, from, target, reference)
      if (!object) return { values: [], references: [] }
      found.push(object)
    }
    const resolved = found.map((object) => target.extract(object))
    // As in Crossplane, the first object without a value determines the error.
    const empty = resolved.indexOf('')
    if (empty >= 0) extracted(target, found[empty]!, references[empty]!.policy)
    return { values: resolved, references }
  }
  const matches = await select(reader, from, target, selector!)
  if (matches.length === 0 && isOptional(selector?.policy)) return { values: [], references: [] }
  if (matches.length === 0) throw new UnresolvedError('noMatches', 'no resources matched selector')
  const byValue = new Map(matches.map((match) => [extracted(target, match, selector?.policy), match]))
  const sorted = [...byValue.keys()].sort()
  return { values: sorted, references: sorted.map((value) => referenceTo(from, byValue.get(value)!)) }
}

function extracted(target: Target, object: KubeObject, policy: ResolutionPolicy | undefined): string {
  const value = target.extract(object)
  if (value === '' && !isOptional(policy)) {
    throw new UnresolvedError('noValue', 'referenced field was empty (referenced resource may not yet be ready)')
  }
  return value
}

async function follow(reader: Reader, from: Referrer, target: Target, reference: ObjectReference) {
  const key = { name: reference.name, ...namespaceOf(from, target, reference.namespace) }
  try {
    return await reader.get(target.type, key)
  } catch (error) {
    if (isNotFound(error) && isOptional(reference.policy)) return undefined
    const why = isNotFound(error) ? 'getNotFound' : 'getFailed'
    throw new UnresolvedError(why, `cannot get referenced resource: ${messageOf(error)}`, { cause: error })
  }
}

async function select(reader: Reader, from: Referrer, target: Target, selector: ObjectSelector) {
  const labels = Object.entries(selector.matchLabels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
  const labelSelector = labels.map(([name, value]) => `${name}=${value}`).join(',')
  try {
    const options = { ...namespaceOf(from, target, selector.namespace), ...(labelSelector ? { labelSelector } : {}) }
    const { items } = await reader.list(target.type, options)
    return items.filter((object) => matches(from, selector, object))
  } catch (error) {
    throw new UnresolvedError('listFailed', `cannot list resources that match selector: ${messageOf(error)}`, {
      cause: error,
    })
  }
}

/** Returns the object as a referrer. */
export function referrerOf(object: KubeObject): Referrer {
  const spec = object['spec'] as { aggregateRef?: { name?: string; uid?: string } } | undefined
  const { ownerReferences: owners, namespace } = object.metadata
  return { deleted: false, owners, namespace, aggregate: spec?.aggregateRef }
}

/** Returns whether the selector matches the object. */
export function isSelected(from: Referrer, selector: ObjectSelector, object: KubeObject): boolean {
  const { labels = {} } = object.metadata
  const labelled = Object.entries(selector.matchLabels ?? {}).every(([name, value]) => labels[name] === value)
  return labelled && matches(from, selector, object)
}

function matches(from: Referrer, selector: ObjectSelector, object: KubeObject): boolean {
  const spec = object['spec'] as { classRef?: { name?: string }; aggregateRef?: Referrer['aggregate'] } | undefined
  if (selector.matchControllerRef && !haveSameController(from.owners, object.metadata.ownerReferences)) return false
  if (selector.matchClassRef && spec?.classRef?.name !== selector.matchClassRef.name) return false
  if (!selector.matchAggregate) return true
  const [ours, theirs] = [from.aggregate, spec?.aggregateRef]
  if (ours?.uid && theirs?.uid) return ours.uid === theirs.uid
  return ours?.name !== undefined && ours.name === theirs?.name
}

function namespaceOf(from: Referrer, target: Target, named: string | undefined): { namespace?: string } {
  const namespace = named || from.namespace
  return target.type.namespaced && namespace ? { namespace } : {}
}

function referenceTo(from: Referrer, { metadata }: KubeObject): ObjectReference {
  return { name: metadata.name!, ...(from.namespace && metadata.namespace ? { namespace: metadata.namespace } : {}) }
}
