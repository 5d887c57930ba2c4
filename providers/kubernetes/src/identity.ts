import type { KubeObject } from '@crosstie/kube'

/**
 * The user that Objects act as in the cluster that they are kept in. It is not
 * the identity of the controllers, who may read every Secret: an Object may do
 * exactly what administrators granted to this user, and nothing at first.
 */
export const OBJECTS_USER = 'crosstie:objects'

/** ClusterRoles with this label, set to "true", add to the rights of {@link OBJECTS_USER}. */
export const OBJECTS_LABEL = 'rbac.crosstie.io/aggregate-to-objects'

const NAME = 'crosstie-objects'
const group = 'rbac.authorization.k8s.io'

/** Collects what administrators grant to Objects. */
export const objectsRoles: readonly KubeObject[] = [
  {
    apiVersion: `${group}/v1`,
    kind: 'ClusterRole',
    metadata: { name: NAME },
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [OBJECTS_LABEL]: 'true' } }] },
  },
  {
    apiVersion: `${group}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: NAME },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: NAME },
    subjects: [{ apiGroup: group, kind: 'User', name: OBJECTS_USER }],
  },
]

/** The controllers act as that user, and as no other. */
export const impersonationRights = [
  { apiGroups: [''], resources: ['users'], resourceNames: [OBJECTS_USER], verbs: ['impersonate'] },
]
