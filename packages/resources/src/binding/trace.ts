import {
  type Client,
  conditionsOf,
  findFieldValue,
  isForbidden,
  isNotFound,
  type KubeObject,
  type ResourceType,
} from '@crosstie/kube'
import { aggregateType } from '../definition/aggregate.js'
import {
  type ClaimSpec,
  describeReference,
  entriesOf,
  phaseOf,
  type Reference,
  referenceTo,
  refersTo,
  specOf,
} from '../metadata/binding.js'
import { UNRESOLVED } from '../status/conditions.js'
import { whyNotReady } from './readiness.js'

/** An object below a claim, with its state. */
export interface Traced {
  readonly reference: Reference
  /** The class that provisioned the object, or that the claim requests. Empty if neither exists. */
  readonly className: string
  /** The binding phase of the object. */
  readonly phase: string
  readonly ready: 'True' | 'False' | 'Unknown'
  /** The reason why the object is not ready. Empty if it is ready. */
  readonly why: string
  readonly children: readonly Traced[]
  /** Referenced objects whose values are missing. */
  readonly waitsFor: readonly Traced[]
}

/** The options of `traceClaim`. */
export interface TraceOptions {
  readonly client: Client
  /** The kinds that the server serves. */
  readonly types: readonly ResourceType[]
}

/** Returns the tree of objects that satisfy a claim. */
export async function traceClaim(options: TraceOptions, claim: KubeObject): Promise<Traced> {
  const { resourceRef } = specOf<ClaimSpec>(claim)
  const children = resourceRef?.name ? [await traceReference(options, resourceRef)] : []
  return { ...traced(claim), children }
}

/**
 * Returns the root cause: the first object, from the leaves up, that is not ready for a reason of its own. An
 * object with an unresolved reference is returned only if there is no other cause.
 */
export function deepestCause(tree: Traced): Traced | undefined {
  if (tree.ready === 'True' || tree.why === HIDDEN) return undefined
  const causes = [...tree.children, ...tree.waitsFor].flatMap((below) => deepestCause(below) ?? [])
  return causes.find(({ why }) => !why.startsWith(UNRESOLVED)) ?? causes[0] ?? tree
}

async function traceReference(options: TraceOptions, reference: Reference, depth = 0): Promise<Traced> {
  const found = await read(options, reference)
  if (!found) return missing(reference)
  if (found === HIDDEN) return { ...missing(reference), ready: 'Unknown', why: HIDDEN }
  if (reference.uid && found.metadata.uid !== reference.uid) {
    return { ...missing(reference), why: 'was deleted, and another has its name' }
  }
  const children = refersTo(reference, aggregateType)
    ? await Promise.all(entriesOf(found).map((entry) => traceReference(options, entry, depth + 1)))
    : []
  const waitsFor = depth < DEPTH_MAX ? await unresolved(options, found, depth) : []
  return { ...traced(found), children, waitsFor }
}

/** Users with access to a namespace may lack access to the cluster-scoped objects below a claim. */
const HIDDEN = 'you have no right to look at it'

/** A limit for cycles of references. */
const DEPTH_MAX = 5

const missing = (reference: Reference): Traced => ({
  reference,
  className: '',
  phase: '',
  ready: 'False',
  why: 'does not exist',
  children: [],
  waitsFor: [],
})

function traced(object: KubeObject): Traced {
  const ready = conditionsOf(object).find(({ type }) => type === 'Ready')?.status ?? 'Unknown'
  const why = ready === 'True' ? '' : whyNotReady(object)
  const className = specOf<ClaimSpec>(object).classRef?.name ?? ''
  const phase = phaseOf(object) ?? ''
  return { reference: referenceTo(object), className, phase, ready, why, children: [], waitsFor: [] }
}

const UNRESOLVED_FIELD = new RegExp(`${UNRESOLVED}: (spec\\.\\S+?): `)

/** Returns the object of an unresolved reference by name, from the message of the condition. */
async function unresolved(options: TraceOptions, object: KubeObject, depth: number): Promise<readonly Traced[]> {
  const message = whyNotReady(object)
  const path = UNRESOLVED_FIELD.exec(message)?.[1]
  if (!path) return []
  const name = (findFieldValue(object, `${path}Ref`) as Reference | undefined)?.name
  const named = /(\S+?)\.(\S+) "([^"]+)" not found/.exec(message)
  const type = named && options.types.find(({ group, resource }) => resource === named[1] && group === named[2])
  if (!type || named[3] !== name) return []
  const reference = { apiVersion: `${type.group}/${type.version}`, kind: type.kind, name }
  return [await traceReference(options, reference, depth + 1)]
}

async function read(
  { client, types }: TraceOptions,
  reference: Reference,
): Promise<KubeObject | typeof HIDDEN | undefined> {
  const type = types.find((each) => refersTo(reference, each))
  if (!type) throw new Error(`the server has no kind of ${describeReference(reference)} (${reference.apiVersion})`)
  const { name, namespace } = reference
  const key = { name: name!, ...(namespace && type.namespaced ? { namespace } : {}) }
  try {
    return await client.get(type, key)
  } catch (error) {
    if (isNotFound(error)) return undefined
    if (isForbidden(error)) return HIDDEN
    throw error
  }
}
