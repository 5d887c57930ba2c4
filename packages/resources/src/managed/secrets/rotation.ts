import { createHmac, randomBytes } from 'node:crypto'
import type { Difference } from '../../definition/external.js'
import { annotationOf, annotations } from '../../metadata/metadata.js'
import type { Reconciliation, Values } from '../reconciliation.js'

/**
 * Notices that the value behind a `<field>SecretRef` changed. Values cannot be
 * compared with what the provider has, and no digest of one is stored, since
 * short passwords can be guessed from it. What is noted on the object is which
 * revision of which Secret the provider was given.
 */

/** A value that was read from a Secret for a field of forProvider. */
export interface GivenSecret {
  readonly path: readonly string[]
  /** Namespace and name of the Secret. */
  readonly secret: string
  /** Its uid and resourceVersion. */
  readonly revision: string
  readonly value: string
}

/** Dies with the process: what it digests is compared only within one. */
const processKey = randomBytes(32)

const digestOf = ({ value }: GivenSecret): string => createHmac('sha256', processKey).update(value).digest('base64')

/** The fields whose value the provider does not have yet, as far as anybody knows. Nobody sees the values. */
export function rotatedSecrets(reconciliation: Reconciliation): readonly Difference[] {
  if (!reconciliation.given?.size) return []
  const noted = notedRevisions(reconciliation)
  const { sent } = reconciliation.state
  return (
    minded(reconciliation)
      // Who may not change it has nothing to learn from not knowing.
      .filter(([name]) => noted[name] !== undefined || reconciliation.policies.may.update)
      .filter(([name, given]) => noted[name] !== given.revision && sent?.get(name) !== digestOf(given))
      .map(([name, { secret }]) => ({
        path: name,
        desired: `the value in Secret ${secret}`,
        observed: noted[name] ? 'an earlier one' : 'not known',
      }))
  )
}

/** What an update is told, with the values that changed. */
export function withRotated(reconciliation: Reconciliation, changed: Values, rotated: readonly Difference[]): Values {
  return rotated.reduce<Values>((values, { path }) => {
    const given = reconciliation.given?.get(path)
    return given ? setIn(values, given.path, given.value) : values
  }, changed)
}

/** The provider has been given the values of this turn. What to note of it, if that is news. */
export function noteGiven(reconciliation: Reconciliation): Readonly<Record<string, string>> {
  if (!reconciliation.given?.size) return {}
  const fields = minded(reconciliation)
  reconciliation.state.sent = new Map(fields.map(([name, given]) => [name, digestOf(given)] as const))
  const noted = notedRevisions(reconciliation)
  if (fields.every(([name, { revision }]) => noted[name] === revision)) return {}
  const revisions = Object.fromEntries(fields.map(([name, { revision }]) => [name, revision]))
  return { [annotations.secretRevisions]: JSON.stringify({ ...noted, ...revisions }) }
}

/** Fields that an update may set. */
function minded(reconciliation: Reconciliation): readonly (readonly [string, GivenSecret])[] {
  const ignored = reconciliation.runtime.features.ignoreChanges ? (reconciliation.spec.ignoreChanges ?? []) : []
  return [...(reconciliation.given ?? [])].filter(
    ([name]) => !ignored.includes(name) && !ignored.includes(`${name}SecretRef`),
  )
}

function notedRevisions({ managed }: Reconciliation): Readonly<Record<string, string>> {
  try {
    const noted: unknown = JSON.parse(annotationOf(managed, annotations.secretRevisions) || '{}')
    return typeof noted === 'object' && noted !== null ? (noted as Record<string, string>) : {}
  } catch {
    // Somebody's hand was in it: then it is not known what the provider has.
    return {}
  }
}

function setIn(values: Values, [name, ...rest]: readonly string[], value: string): Values {
  const inner = rest.length === 0 ? value : setIn((values[name!] ?? {}) as Values, rest, value)
  return { ...values, [name!]: inner }
}
