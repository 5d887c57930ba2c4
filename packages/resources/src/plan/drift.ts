import { conditionsOf, type KubeObject } from '@crosstie/kube'
import { fieldsIn } from '../managed/observe/describe.js'
import { externalNameOf } from '../metadata/metadata.js'

/** Where one external resource differs, or differed, from what its object wants. */
export interface Drift {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  readonly externalName?: string
  /** Does it still? What was corrected does not. */
  readonly differs: boolean
  /**
   * Whose decision it is that it differs: the policies do not allow an update
   * (NotAllowed), the spec says to leave it alone (Ignored), the provider cannot
   * change it (Immutable), a person has to approve the update first (AwaitingApproval), the update sent nothing
   * (NotCorrected), or updates have no lasting effect (UpdateLoop). Or it was Corrected.
   */
  readonly decision: string
  /** Since when it differs, or when it was corrected. */
  readonly since?: string
  readonly fields: readonly string[]
  readonly message: string
}

/** What the object's own report says of drift; undefined when it never drifted, or is in step again by itself. */
export function driftOf(object: KubeObject): Drift | undefined {
  const condition = conditionsOf(object).find(({ type }) => type === 'Drifted')
  if (!condition || condition.reason === 'InStep') return undefined
  const { name = '', namespace } = object.metadata
  const externalName = externalNameOf(object)
  const { message = '' } = condition
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    name,
    ...(namespace ? { namespace } : {}),
    ...(externalName ? { externalName } : {}),
    differs: condition.status === 'True',
    decision: condition.reason,
    ...(condition.lastTransitionTime ? { since: condition.lastTransitionTime } : {}),
    fields: fieldsIn(message),
    message,
  }
}
