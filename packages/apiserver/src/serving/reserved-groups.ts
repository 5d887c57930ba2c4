/**
 * The API groups that kube-apiserver 1.34 serves by itself and that a CRD can name: `spec.group` must contain a
 * dot. Kinds of these groups are always built in. A CRD in one of them is stored and established, as on
 * kube-apiserver, but never served. Otherwise a user who may create CRDs could replace ClusterRoleBindings, Leases
 * or the CRD API. The list also has groups that this server does not serve, so that a later version can add them.
 */
export const RESERVED_GROUPS: readonly string[] = [
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'certificates.k8s.io',
  'coordination.k8s.io',
  'discovery.k8s.io',
  'events.k8s.io',
  'flowcontrol.apiserver.k8s.io',
  'networking.k8s.io',
  'node.k8s.io',
  'rbac.authorization.k8s.io',
  'resource.k8s.io',
  'scheduling.k8s.io',
  'storage.k8s.io',
]
