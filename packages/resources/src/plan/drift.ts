import { conditionsOf, type KubeObject } from '@crosstie/kube'
import { fieldsIn } from '../managed/observe/describe.js'
import { externalNameOf } from '../metadata/metadata.js'

/** A past or present difference between an external resource and its object. */
export interface Drift {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  readonly externalName?: string
  /** Whether the difference still exists. False once it is corrected. */
  readonly differs: boolean
  /**
   * Why the difference exists: the policies do not allow an update (NotAllowed), the spec excludes the field
   * (Ignored), the provider cannot change it (Immutable), the update requires approval (AwaitingApproval), the
   * update sent no request (NotCorrected), or updates have no lasting effect (UpdateLoop). Corrected: it no longer
   * exists.
   */
  readonly decision: string
  /** The time since which the resource differs, or at which it was corrected. */
  readonly since?: string
  readonly fields: readonly string[]
  readonly message: string
}

/**
 * Returns the drift that the conditions of an object report. Returns undefined if it never drifted, or came back in
 * sync without an update.
 */
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
