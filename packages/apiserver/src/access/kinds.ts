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

export const NAMESPACES = core('Namespace', 'namespaces', false)
export const SERVICE_ACCOUNTS = core('ServiceAccount', 'serviceaccounts')
export const SECRETS = core('Secret', 'secrets')
export const CONFIG_MAPS = core('ConfigMap', 'configmaps')
export const CLUSTER_ROLES = rbac('ClusterRole', 'clusterroles', false)
export const CLUSTER_ROLE_BINDINGS = rbac('ClusterRoleBinding', 'clusterrolebindings', false)
export const ROLES = rbac('Role', 'roles', true)
export const ROLE_BINDINGS = rbac('RoleBinding', 'rolebindings', true)
