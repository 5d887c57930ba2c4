import type { KubeObject } from '@crosstie/kube'
import type { PolicyRule } from './rules.js'

/**
 * The roles and bindings that kube-apiserver creates at start, without those for nodes, pods and schedulers, which
 * do not exist here. The rules are copied exactly, including kinds that are not served, so that a user with `edit`
 * can grant the same permissions as on any cluster and charts install unchanged.
 */

const RBAC = 'rbac.authorization.k8s.io'
const METADATA = {
  labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' },
  annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
}

const read = ['get', 'list', 'watch']
const write = ['create', 'delete', 'deletecollection', 'patch', 'update']
const readWrite = [...read, ...write].sort()

/** `rule(read, '', 'pods secrets')` */
const rule = (verbs: readonly string[], groups: string, resources: string, names?: readonly string[]): PolicyRule => ({
  apiGroups: groups.split(' '),
  ...(names ? { resourceNames: names } : {}),
  resources: resources.split(' '),
  verbs,
})
const urls = (verbs: readonly string[], paths: string): PolicyRule => ({ nonResourceURLs: paths.split(' '), verbs })
const events: PolicyRule = {
  apiGroups: ['', 'events.k8s.io'],
  resources: ['events'],
  verbs: ['create', 'patch', 'update'],
}

const view: readonly PolicyRule[] = [
  rule(
    read,
    '',
    'configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status',
  ),
  rule(
    read,
    '',
    'bindings events limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status',
  ),
  rule(read, '', 'namespaces'),
  rule(read, 'discovery.k8s.io', 'endpointslices'),
  rule(
    read,
    'apps',
    'controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status',
  ),
  rule(read, 'autoscaling', 'horizontalpodautoscalers horizontalpodautoscalers/status'),
  rule(read, 'batch', 'cronjobs cronjobs/status jobs jobs/status'),
  rule(
    read,
    'extensions',
    'daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status networkpolicies replicasets replicasets/scale replicasets/status replicationcontrollers/scale',
  ),
  rule(read, 'policy', 'poddisruptionbudgets poddisruptionbudgets/status'),
  rule(read, 'networking.k8s.io', 'ingresses ingresses/status networkpolicies'),
  rule(read, 'resource.k8s.io', 'resourceclaims resourceclaims/status resourceclaimtemplates'),
]

const edit: readonly PolicyRule[] = [
  rule(read, '', 'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy'),
  rule(['impersonate'], '', 'serviceaccounts'),
  rule(write, '', 'pods pods/attach pods/exec pods/portforward pods/proxy'),
  rule(['create'], '', 'pods/eviction'),
  rule(
    write,
    '',
    'configmaps events persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy',
  ),
  rule(['create'], '', 'serviceaccounts/token'),
  rule(
    write,
    'apps',
    'daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale',
  ),
  rule(write, 'autoscaling', 'horizontalpodautoscalers'),
  rule(write, 'batch', 'cronjobs jobs'),
  rule(
    write,
    'extensions',
    'daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets replicasets/scale replicationcontrollers/scale',
  ),
  rule(write, 'policy', 'poddisruptionbudgets'),
  rule(write, 'networking.k8s.io', 'ingresses networkpolicies'),
  rule(readWrite, 'coordination.k8s.io', 'leases'),
  rule(write, 'resource.k8s.io', 'resourceclaims resourceclaimtemplates'),
]

const admin: readonly PolicyRule[] = [
  rule(['create'], 'authorization.k8s.io', 'localsubjectaccessreviews'),
  rule(readWrite, RBAC, 'rolebindings roles'),
]

const monitoring: readonly PolicyRule[] = [
  urls(['get'], '/healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/*'),
  rule(['get'], '', 'nodes/metrics'),
]

const controllerManager: readonly PolicyRule[] = [
  events,
  rule(['create'], 'coordination.k8s.io', 'leases'),
  rule(['get', 'update'], 'coordination.k8s.io', 'leases', ['kube-controller-manager']),
  rule(['create'], '', 'secrets serviceaccounts'),
  rule(['delete'], '', 'secrets'),
  rule(['get'], '', 'configmaps namespaces secrets serviceaccounts'),
  rule(['update'], '', 'secrets serviceaccounts'),
  rule(['create'], 'authentication.k8s.io', 'tokenreviews'),
  rule(['create'], 'authorization.k8s.io', 'subjectaccessreviews'),
  rule(['list', 'watch'], '*', '*'),
  rule(['create'], '', 'serviceaccounts/token'),
]

const discovery = '/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/'
const openid = '/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/'

/** Permissions of the controllers of a control plane. Each has a service account in kube-system. */
const controllers: Readonly<Record<string, readonly PolicyRule[]>> = {
  'clusterrole-aggregation-controller': [
    rule(['escalate', 'get', 'list', 'patch', 'update', 'watch'], RBAC, 'clusterroles'),
  ],
  'generic-garbage-collector': [rule(['delete', 'get', 'list', 'patch', 'update', 'watch'], '*', '*'), events],
  'legacy-service-account-token-cleaner': [
    rule(['get'], '', 'configmaps', ['kube-apiserver-legacy-service-account-token-tracking']),
    rule(['delete', 'patch'], '', 'secrets'),
  ],
  'namespace-controller': [
    rule(['delete', 'get', 'list', 'watch'], '', 'namespaces'),
    rule(['update'], '', 'namespaces/finalize namespaces/status'),
    rule(['delete', 'deletecollection', 'get', 'list', 'watch'], '*', '*'),
  ],
  'root-ca-cert-publisher': [rule(['create', 'update'], '', 'configmaps'), events],
  'service-account-controller': [rule(['create'], '', 'serviceaccounts'), events],
  'validatingadmissionpolicy-status-controller': [
    rule(read, 'admissionregistration.k8s.io', 'validatingadmissionpolicies'),
    rule(['get', 'patch', 'update'], 'admissionregistration.k8s.io', 'validatingadmissionpolicies/status'),
    events,
  ],
}

/** The default ClusterRoles. */
export const clusterRoles: readonly KubeObject[] = [
  clusterRole('cluster-admin', [
    { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
    { nonResourceURLs: ['*'], verbs: ['*'] },
  ]),
  aggregated('admin'),
  aggregated('edit', 'admin'),
  aggregated('view', 'edit'),
  clusterRole('system:aggregate-to-admin', admin, 'admin'),
  clusterRole('system:aggregate-to-edit', edit, 'edit'),
  clusterRole('system:aggregate-to-view', view, 'view'),
  clusterRole('system:auth-delegator', [
    rule(['create'], 'authentication.k8s.io', 'tokenreviews'),
    rule(['create'], 'authorization.k8s.io', 'subjectaccessreviews'),
  ]),
  clusterRole('system:basic-user', [
    rule(['create'], 'authorization.k8s.io', 'selfsubjectaccessreviews selfsubjectrulesreviews'),
    rule(['create'], 'authentication.k8s.io', 'selfsubjectreviews'),
  ]),
  clusterRole('system:discovery', [urls(['get'], discovery)]),
  clusterRole('system:kube-controller-manager', controllerManager),
  clusterRole('system:monitoring', monitoring),
  clusterRole('system:public-info-viewer', [urls(['get'], '/healthz /livez /readyz /version /version/')]),
  clusterRole('system:service-account-issuer-discovery', [urls(['get'], openid)]),
  ...Object.entries(controllers).map(([name, rules]) => clusterRole(`system:controller:${name}`, rules)),
]

/** The default ClusterRoleBindings. */
export const clusterRoleBindings: readonly KubeObject[] = [
  clusterRoleBinding('cluster-admin', group('system:masters')),
  clusterRoleBinding('system:basic-user', group('system:authenticated')),
  clusterRoleBinding('system:discovery', group('system:authenticated')),
  clusterRoleBinding('system:kube-controller-manager', user('system:kube-controller-manager')),
  clusterRoleBinding('system:monitoring', group('system:monitoring')),
  clusterRoleBinding('system:public-info-viewer', group('system:authenticated'), group('system:unauthenticated')),
  clusterRoleBinding('system:service-account-issuer-discovery', group('system:serviceaccounts')),
  ...Object.keys(controllers).map((name) =>
    clusterRoleBinding(`system:controller:${name}`, { kind: 'ServiceAccount', name, namespace: 'kube-system' }),
  ),
]

/** The default Roles. */
export const roles: readonly KubeObject[] = [
  {
    apiVersion: `${RBAC}/v1`,
    kind: 'Role',
    metadata: { name: 'extension-apiserver-authentication-reader', namespace: 'kube-system', ...METADATA },
    rules: [rule(read, '', 'configmaps', ['extension-apiserver-authentication'])],
  },
]

/** The default RoleBindings. */
export const roleBindings: readonly KubeObject[] = [
  {
    apiVersion: `${RBAC}/v1`,
    kind: 'RoleBinding',
    metadata: { name: 'system::extension-apiserver-authentication-reader', namespace: 'kube-system', ...METADATA },
    roleRef: { apiGroup: RBAC, kind: 'Role', name: 'extension-apiserver-authentication-reader' },
    subjects: [user('system:kube-controller-manager'), user('system:kube-scheduler')],
  },
]

function clusterRole(name: string, rules: readonly PolicyRule[], aggregateTo?: string): KubeObject {
  return { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: metadata(name, aggregateTo), rules }
}

function aggregated(name: string, aggregateTo?: string): KubeObject {
  const clusterRoleSelectors = [{ matchLabels: { [`${RBAC}/aggregate-to-${name}`]: 'true' } }]
  return { ...clusterRole(name, [], aggregateTo), aggregationRule: { clusterRoleSelectors } }
}

function metadata(name: string, aggregateTo: string | undefined): KubeObject['metadata'] {
  const label = aggregateTo ? { [`${RBAC}/aggregate-to-${aggregateTo}`]: 'true' } : {}
  return { name, labels: { ...METADATA.labels, ...label }, annotations: METADATA.annotations }
}

function clusterRoleBinding(name: string, ...subjects: readonly object[]): KubeObject {
  const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name }
  return {
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: metadata(name, undefined),
    roleRef,
    subjects,
  }
}

function group(name: string): object {
  return { apiGroup: RBAC, kind: 'Group', name }
}

function user(name: string): object {
  return { apiGroup: RBAC, kind: 'User', name }
}
