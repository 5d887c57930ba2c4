import { createHmac, randomBytes } from 'node:crypto'
import type { Difference } from '../../definition/external.js'
import { annotationOf, annotations } from '../../metadata/metadata.js'
import type { Reconciliation, Values } from '../reconciliation.js'

/**
 * Detects changes of the value behind a `<field>SecretRef`. Values cannot be compared with those of the provider.
 * Digests are not stored, because short passwords can be guessed from them. The object records which revision of
 * which Secret the provider received.
 */

/** A value that was read from a Secret for a field of forProvider. */
export interface GivenSecret {
  readonly path: readonly string[]
  /** Namespace and name of the Secret. */
  readonly secret: string
  /** The uid and resourceVersion of the Secret. */
  readonly revision: string
  readonly value: string
}

/** A key that exists only in this process, because digests are compared only within it. */
const processKey = randomBytes(32)

const digestOf = ({ value }: GivenSecret): string => createHmac('sha256', processKey).update(value).digest('base64')

/** Returns the fields whose value the provider is not known to have. The values themselves are not included. */
export function rotatedSecrets(reconciliation: Reconciliation): readonly Difference[] {
  if (!reconciliation.given?.size) return []
  const noted = notedRevisions(reconciliation)
  const { sent } = reconciliation.state
  return (
    minded(reconciliation)
      // Without permission to update, an unrecorded revision is not a difference.
      .filter(([name]) => noted[name] !== undefined || reconciliation.policies.may.update)
      .filter(([name, given]) => noted[name] !== given.revision && sent?.get(name) !== digestOf(given))
      .map(([name, { secret }]) => ({
        path: name,
        desired: `the value in Secret ${secret}`,
        observed: noted[name] ? 'an earlier one' : 'not known',
      }))
  )
}

/** Adds the changed sensitive values to the values of an update. */
export function withRotated(reconciliation: Reconciliation, changed: Values, rotated: readonly Difference[]): Values {
  return rotated.reduce<Values>((values, { path }) => {
    const given = reconciliation.given?.get(path)
    return given ? setIn(values, given.path, given.value) : values
  }, changed)
}

/**
 * Records that the provider received the values of this reconciliation. Returns the annotation to write, if it
 * changes.
 */
export function noteGiven(reconciliation: Reconciliation): Readonly<Record<string, string>> {
  if (!reconciliation.given?.size) return {}
  const fields = minded(reconciliation)
  reconciliation.state.sent = new Map(fields.map(([name, given]) => [name, digestOf(given)] as const))
  const noted = notedRevisions(reconciliation)
  if (fields.every(([name, { revision }]) => noted[name] === revision)) return {}
  const revisions = Object.fromEntries(fields.map(([name, { revision }]) => [name, revision]))
  return { [annotations.secretRevisions]: JSON.stringify({ ...noted, ...revisions }) }
}

/** Returns the fields that an update may set. */
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
    // The annotation was edited and is invalid, so the values that the provider has are unknown.
    return {}
  }
}

function setIn(values: Values, [name, ...rest]: readonly string[], value: string): Values {
  const inner = rest.length === 0 ? value : setIn((values[name!] ?? {}) as Values, rest, value)
  return { ...values, [name!]: inner }
}
