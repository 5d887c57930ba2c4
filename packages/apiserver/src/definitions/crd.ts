import type { KubeObject } from '@crosstie/kube'
import { type CustomResourceDefinition as Crd, hasCondition } from '@crosstie/kube/schema'

/** Keeps a CRD until its objects are deleted. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io'

/** A CustomResourceDefinition object. */
export type CustomResourceDefinition = Crd & KubeObject

/** Whether the CRD is established. */
export function isEstablished(crd: CustomResourceDefinition): boolean {
  return hasCondition(crd, 'Established')
}
