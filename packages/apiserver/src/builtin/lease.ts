import { type FieldError, fieldErrors, isObject, type KubeObject } from '@crosstie/kube'
import type { Definition } from '../definitions/definition.js'
import { ageColumn, column, nameColumn } from './columns.js'
import { type Draft, defineKind } from './kind.js'

const specOf = (lease: KubeObject): Readonly<Record<string, unknown>> => (isObject(lease['spec']) ? lease['spec'] : {})

/** Lease. */
export function leaseKind(): Definition {
  return defineKind({
    group: 'coordination.k8s.io',
    kind: 'Lease',
    plural: 'leases',
    model: 'io.k8s.api.coordination.v1.Lease',
    namespaced: true,
    columns: [
      nameColumn,
      column('Holder', 'string', 'Who holds the lease.', (lease) => specOf(lease)['holderIdentity'] ?? ''),
      ageColumn,
    ],
    strategy: {
      generation: 'never',
      unconditionalUpdate: false,
      createOnUpdate: true,
      nameRule: 'dnsSubdomain',
      prepare: withoutCoordination,
      validate: leaseErrors,
    },
  })
}

// Coordinated leader election is disabled by default in Kubernetes 1.34, so its fields are dropped.
function withoutCoordination(lease: Draft, old: KubeObject | undefined): void {
  const kept = old ? specOf(old) : {}
  const { strategy, preferredHolder, ...spec } = specOf(lease as unknown as KubeObject)
  if (strategy === undefined && preferredHolder === undefined) return
  lease['spec'] = {
    ...spec,
    ...(strategy !== undefined && kept['strategy'] !== undefined ? { strategy } : {}),
    ...(preferredHolder !== undefined && kept['preferredHolder'] !== undefined ? { preferredHolder } : {}),
  }
}

function leaseErrors(lease: KubeObject): FieldError[] {
  const { leaseDurationSeconds, leaseTransitions } = specOf(lease)
  const errors: FieldError[] = []
  if (typeof leaseDurationSeconds === 'number' && leaseDurationSeconds <= 0) {
    errors.push(fieldErrors.invalid('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0'))
  }
  if (typeof leaseTransitions === 'number' && leaseTransitions < 0) {
    errors.push(fieldErrors.invalid('spec.leaseTransitions', leaseTransitions, 'must be greater than or equal to 0'))
  }
  return errors
}
