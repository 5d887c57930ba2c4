import type { KubeObject } from '@crosstie/kube'

/** Emits Kubernetes events about objects. The implementation aggregates repetitions. */
export interface EventReporter {
  event(object: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string): void
}
