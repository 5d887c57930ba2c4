import { setCondition } from './accept.js'
import { CLEANUP_FINALIZER, type CustomResourceDefinition } from './crd.js'
import type { WriteContext } from './definition.js'

/**
 * `Strategy.beginDelete` of CRDs: adds the Terminating condition. Unlike other kinds, a CRD gets neither a grace
 * period nor a new generation.
 */
export function beginDefinitionDelete(object: Record<string, unknown>, { now }: WriteContext): void {
  const crd = object as CustomResourceDefinition
  const { deletionGracePeriodSeconds: _, generation = 1, finalizers = [], ...metadata } = crd.metadata
  const kept = finalizers.includes(CLEANUP_FINALIZER) ? finalizers : [...finalizers, CLEANUP_FINALIZER]
  object['metadata'] = { ...metadata, generation: generation - 1, finalizers: kept }
  object['status'] = setCondition(crd, pending, now).status
}

const pending = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionPending',
  message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
} as const

/** The Terminating condition while objects are being deleted. */
export const inProgress = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionInProgress',
  message: 'CustomResource deletion is in progress',
} as const
