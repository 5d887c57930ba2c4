import type { KubeObject } from '@crosstie/kube'
import { aggregatedTo, READ, role, rulesFor, TO_APPLICATION, TO_INFRASTRUCTURE } from '../binding/operator-roles.js'
import { APPROVE } from '../definition/approval-policy.js'
import type { ManagedKind } from '../definition/managed.js'
import { discoveryRequestType, planRequestType } from './define.js'

/**
 * Returns the ClusterRoles for requests and approvals. Both kinds of operators may request plans. The answer is
 * limited by the permissions of the requester. `crosstie:plans:approve` is part of
 * `crosstie:infrastructure-operator`. Bind `crosstie:infrastructure:edit` and `crosstie:plans:request` to users who
 * may change objects but not approve plans.
 */
export function requestRoles(managed: readonly ManagedKind[]): readonly KubeObject[] {
  const verbs = [...READ, 'create', 'delete']
  const types = managed.map(({ type }) => type)
  return [
    role(
      'crosstie:plans:request',
      [aggregatedTo('admin'), aggregatedTo('edit'), TO_APPLICATION, TO_INFRASTRUCTURE],
      rulesFor([planRequestType], verbs),
    ),
    role('crosstie:discovery:request', [TO_INFRASTRUCTURE], rulesFor([discoveryRequestType], verbs)),
    role('crosstie:plans:approve', [TO_INFRASTRUCTURE], rulesFor(types, [APPROVE])),
  ]
}
