import type { ResourceType } from '@crosstie/kube'

const core = (kind: string, resource: string, namespaced = true): ResourceType => ({
  group: '',
  version: 'v1',
  kind,
  resource,
  namespaced,
})
const rbac = (kind: string, resource: string, namespaced: boolean): ResourceType => ({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind,
  resource,
  namespaced,
})

/** Namespace, core/v1. */
export const NAMESPACES = core('Namespace', 'namespaces', false)
/** ServiceAccount, core/v1. */
export const SERVICE_ACCOUNTS = core('ServiceAccount', 'serviceaccounts')
/** Secret, core/v1. */
export const SECRETS = core('Secret', 'secrets')
/** ConfigMap, core/v1. */
export const CONFIG_MAPS = core('ConfigMap', 'configmaps')
/** ClusterRole, rbac.authorization.k8s.io/v1. */
export const CLUSTER_ROLES = rbac('ClusterRole', 'clusterroles', false)
/** ClusterRoleBinding, rbac.authorization.k8s.io/v1. */
export const CLUSTER_ROLE_BINDINGS = rbac('ClusterRoleBinding', 'clusterrolebindings', false)
/** Role, rbac.authorization.k8s.io/v1. */
export const ROLES = rbac('Role', 'roles', true)
/** RoleBinding, rbac.authorization.k8s.io/v1. */
export const ROLE_BINDINGS = rbac('RoleBinding', 'rolebindings', true)
