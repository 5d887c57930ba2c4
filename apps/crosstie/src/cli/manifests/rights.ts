import { groupResource, type KubeObject, nameOf, type ResourceType } from '@crosstie/kube'
import {
  aggregateClassType,
  aggregateType,
  type ClaimKind,
  type ManagedKind,
  type Provider,
  requestIdentityPolicy,
  requestTypes,
  reservationType,
} from '@crosstie/resources'

/** A rule of a role. */
export interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  /** The names of objects. Absent: all objects. */
  readonly resourceNames?: readonly string[]
}

const SEE = ['get', 'list', 'watch']
const KEEP = [...SEE, 'create', 'update', 'patch', 'delete']

/** Returns the permissions that controllers need for every provider: claims, aggregates, Secrets and events. */
export function commonRights(claims: readonly ClaimKind[]): readonly Rule[] {
  const types = claims.map(({ type }) => type)
  return [
    ...rules(types, [...SEE, 'update', 'patch']),
    ...rules([aggregateType], KEEP),
    ...rules([aggregateClassType], SEE),
    // Reservations are never updated.
    ...rules([reservationType], [...SEE, 'create', 'delete']),
    // The answer to a request is its status. Answered requests are deleted.
    ...rules(requestTypes, [...SEE, 'delete']),
    ...behind([...types, aggregateType, ...requestTypes]),
    // To check the rights of the author of a request, and that the server verified who that is.
    { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
    {
      apiGroups: ['admissionregistration.k8s.io'],
      resources: ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
      resourceNames: requestIdentityPolicy().map(nameOf),
      verbs: ['get'],
    },
    // Connection Secrets are in namespaces that are not known beforehand. They are deleted with their owners.
    { apiGroups: [''], resources: ['secrets'], verbs: [...SEE, 'create', 'update', 'patch'] },
    { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
  ]
}

/** Returns the permissions that the kinds of one provider need. */
export function providerRights({ kinds, rights = [] }: Provider): readonly Rule[] {
  const queries = kinds.flatMap(({ query }) => (query ? [query.type] : []))
  const configs = [...new Set(kinds.flatMap(({ providerConfig }) => providerConfig ?? []))]
  return [
    ...rules(typesOf(kinds), KEEP),
    ...rules(
      kinds.map(({ classType }) => classType),
      SEE,
    ),
    ...rules([...queries, ...configs.map(({ type }) => type)], [...SEE, 'update', 'patch']),
    ...rules(
      configs.map(({ usageType }) => usageType),
      [...SEE, 'create', 'update', 'patch'],
    ),
    ...behind([...typesOf(kinds), ...queries, ...configs.map(({ type }) => type)]),
    ...rights,
  ]
}

/** Returns the permission to write the CA into the definitions of converted kinds. */
export function conversionRights(kinds: readonly ManagedKind[]): readonly Rule[] {
  const resourceNames = kinds.map(({ type }) => groupResource(type))
  const resources = ['customresourcedefinitions']
  return [{ apiGroups: ['apiextensions.k8s.io'], resources, resourceNames, verbs: ['get', 'patch'] }]
}

/** The permissions for leader election and shards in one namespace. */
export const leaseRights: readonly Rule[] = [
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    verbs: ['get', 'list', 'create', 'update', 'delete'],
  },
]

const typesOf = (kinds: readonly ManagedKind[]): readonly ResourceType[] => kinds.map(({ type }) => type)

/** Returns rules for status and finalizers. Clusters that enforce blockOwnerDeletion need the latter. */
function behind(types: readonly ResourceType[]): readonly Rule[] {
  const part = (name: string) => types.map((type) => ({ ...type, resource: `${type.resource}/${name}` }))
  return [...rules(part('status'), ['update', 'patch']), ...rules(part('finalizers'), ['update'])]
}

/** Returns one rule per group. */
function rules(types: readonly ResourceType[], verbs: readonly string[]): readonly Rule[] {
  const groups = [...new Set(types.map(({ group }) => group))].sort()
  return groups.map((group) => ({
    apiGroups: [group],
    resources: [...new Set(types.filter((type) => type.group === group).map(({ resource }) => resource))].sort(),
    verbs: [...verbs],
  }))
}

interface Account {
  readonly name: string
  readonly namespace: string
}

const RBAC = { apiVersion: 'rbac.authorization.k8s.io/v1' }

/** Returns a ClusterRole and its binding to the account. */
export function clusterRole(name: string, to: Account, what: object, labels: Labels): readonly KubeObject[] {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
  return [
    { ...RBAC, kind: 'ClusterRole', metadata: { name, labels }, ...what },
    { ...RBAC, kind: 'ClusterRoleBinding', metadata: { name, labels }, roleRef, subjects: [subject(to)] },
  ]
}

/** Returns a Role and its binding to the account. */
export function role(name: string, to: Account, what: object, labels: Labels): readonly KubeObject[] {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name }
  const metadata = { name, namespace: to.namespace, labels }
  return [
    { ...RBAC, kind: 'Role', metadata, ...what },
    { ...RBAC, kind: 'RoleBinding', metadata, roleRef, subjects: [subject(to)] },
  ]
}

type Labels = Readonly<Record<string, string>>

const subject = ({ name, namespace }: Account) => ({ kind: 'ServiceAccount', name, namespace })
