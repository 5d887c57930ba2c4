import type { KubeObject } from '@crosstie/kube'
import { type CustomResourceDefinition as Crd, hasCondition } from '@crosstie/kube/schema'

/** Keeps a CRD until its objects are gone. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io'

export type CustomResourceDefinition = Crd & KubeObject

export function isEstablished(crd: CustomResourceDefinition): boolean {
  return hasCondition(crd, 'Established')
}
