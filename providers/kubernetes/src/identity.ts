import type { KubeObject } from '@crosstie/kube'

/**
 * The user of Objects in the cluster that they are kept in. It is not the identity of the controllers, which may
 * read every Secret. An Object has only the permissions that administrators granted to this user, initially none.
 */
export const OBJECTS_USER = 'crosstie:objects'

/** ClusterRoles with this label set to "true" grant permissions to {@link OBJECTS_USER}. */
export const OBJECTS_LABEL = 'rbac.crosstie.io/aggregate-to-objects'

const NAME = 'crosstie-objects'
const group = 'rbac.authorization.k8s.io'

/** The roles that aggregate the permissions of Objects. */
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

/** The permission of the controllers to impersonate this user, and no other. */
export const impersonationRights = [
  { apiGroups: [''], resources: ['users'], resourceNames: [OBJECTS_USER], verbs: ['impersonate'] },
]
