/**
 * The API groups that kube-apiserver 1.34 serves by itself, as far as a CRD can name them: `spec.group` must contain a
 * dot. Kinds of these groups are always built in. A CRD in one of them is stored and established, as on kube-apiserver,
 * but it is never served: otherwise whoever may create CRDs could replace ClusterRoleBindings, Leases or the CRD API.
 * The list also covers groups that this server does not have, so that a later version can add them.
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
