import type { KubeObject } from '@crosstie/kube'
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io'
export interface CustomResourceDefinition extends KubeObject {
  readonly spec: any
  readonly status?: any
}
export function isEstablished(crd: CustomResourceDefinition): boolean {
  return (crd.status?.conditions ?? []).some((c: any) => c.type === 'Established' && c.status === 'True')
}
