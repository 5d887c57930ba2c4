import type { KubeObject, ResourceType } from '@crosstie/kube'
import { aggregateClassType, aggregateType } from '../definition/aggregate.js'
import { APPROVE } from '../definition/approval-policy.js'
import type { ClaimKind } from '../definition/claim.js'
import type { ManagedKind } from '../definition/managed.js'
import { reservationType } from '../definition/reservation.js'

/** The verbs that read objects. */
export const READ = ['get', 'list', 'watch']
const WRITE = ['create', 'delete', 'deletecollection', 'patch', 'update']

/** The label of ClusterRoles that are aggregated to the application operator. */
export const TO_APPLICATION = 'rbac.crosstie.io/aggregate-to-application-operator'
/** The label of ClusterRoles that are aggregated to the infrastructure operator. */
export const TO_INFRASTRUCTURE = 'rbac.crosstie.io/aggregate-to-infrastructure-operator'
/** Returns the label of ClusterRoles that are aggregated to a default role of Kubernetes. */
export const aggregatedTo = (role: 'admin' | 'edit' | 'view') => `rbac.authorization.k8s.io/aggregate-to-${role}`

interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

/**
 * Returns the ClusterRoles that separate the two kinds of operators (CLM7). Bind `crosstie:application-operator` in
 * a namespace. It grants access to claims, and to Secrets of the namespace. Bind `crosstie:infrastructure-operator`
 * cluster-wide. It grants access to classes, managed resources and aggregates. The default roles admin, edit and
 * view of Kubernetes grant access to claims only, since infrastructure is cluster-scoped.
 *
 * A ProviderConfig names credentials: any Secret, variable or file that the controllers can read, or their own
 * identity. Therefore only administrators may write one, with `crosstie:provider-administrator`. Infrastructure
 * operators can read them.
 */
export function operatorRoles(claims: readonly ClaimKind[], managed: readonly ManagedKind[]): readonly KubeObject[] {
  const claimTypes = claims.map(({ type }) => type)
  const infrastructure = [
    ...managed.flatMap(({ type, classType, query }) => [type, classType, ...(query ? [query.type] : [])]),
    aggregateType,
    aggregateClassType,
  ]
  const configs = managed.flatMap(({ providerConfig }) => (providerConfig ? [providerConfig.type] : []))
  // Operators can read which object holds a name and delete a stale reservation, but cannot create one.
  const reservations = rulesFor([reservationType], [...READ, 'delete'])
  const secretsAndEvents = [
    { apiGroups: [''], resources: ['secrets', 'events'], verbs: READ },
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: READ },
  ]
  const events = secretsAndEvents.map((rule) => ({ ...rule, resources: ['events'] }))
  return [
    role(
      'crosstie:claims:edit',
      [aggregatedTo('admin'), aggregatedTo('edit'), TO_APPLICATION],
      rulesFor(claimTypes, [...READ, ...WRITE]),
    ),
    role('crosstie:claims:view', [aggregatedTo('view'), TO_INFRASTRUCTURE], rulesFor(claimTypes, READ)),
    role('crosstie:claims:connections', [TO_APPLICATION], secretsAndEvents),
    role(
      'crosstie:infrastructure:edit',
      [TO_INFRASTRUCTURE],
      [...rulesFor(infrastructure, [...READ, ...WRITE]), ...reservations, ...events],
    ),
    role('crosstie:provider-configs:view', [TO_INFRASTRUCTURE], rulesFor(configs, READ)),
    role('crosstie:provider-administrator', [], [...rulesFor(configs, [...READ, ...WRITE]), ...events]),
    aggregated('crosstie:application-operator', TO_APPLICATION),
    aggregated('crosstie:infrastructure-operator', TO_INFRASTRUCTURE),
  ]
}

/**
 * Returns the roles of operators for kinds that one owner added at run time. Aggregation adds their rules to the
 * roles of all kinds.
 */
export function kindRoles(owner: string, managed: readonly ManagedKind[]): readonly KubeObject[] {
  const types = managed.flatMap(({ type, classType, query }) => [type, classType, ...(query ? [query.type] : [])])
  const configs = managed.flatMap(({ providerConfig }) => (providerConfig ? [providerConfig.type] : []))
  return [
    role(`crosstie:infrastructure:edit:${owner}`, [TO_INFRASTRUCTURE], rulesFor(types, [...READ, ...WRITE])),
    role(`crosstie:provider-configs:view:${owner}`, [TO_INFRASTRUCTURE], rulesFor(configs, READ)),
    role(`crosstie:provider-administrator:${owner}`, [], rulesFor(configs, [...READ, ...WRITE])),
    role(`crosstie:plans:approve:${owner}`, [TO_INFRASTRUCTURE], rulesFor(types, [APPROVE])),
  ]
}

/** Returns one rule for each API group. It excludes the status subresource, which only controllers write. */
export function rulesFor(types: readonly ResourceType[], verbs: readonly string[]): readonly Rule[] {
  const groups = [...new Set(types.map(({ group }) => group))].sort()
  return groups.map((group) => ({
    apiGroups: [group],
    resources: [...new Set(types.filter((type) => type.group === group).map(({ resource }) => resource))].sort(),
    verbs,
  }))
}

/** Returns a ClusterRole with aggregation labels. Its rules are added to the roles that select these labels. */
export function role(name: string, labels: readonly string[], rules: readonly Rule[]): KubeObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name, labels: Object.fromEntries(labels.map((label) => [label, 'true'])) },
    rules,
  }
}

function aggregated(name: string, label: string): KubeObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name },
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [label]: 'true' } }] },
  }
}
