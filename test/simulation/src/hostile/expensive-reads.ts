import { ACCESS_REVIEWS, type Attack, administrator, list, MAPS, NAMESPACE, ROLES, tenant } from './attack.js'

/** Attacks by reviews. */
export const reviewAttacks: Readonly<Record<string, Attack>> = {
  'a token of megabytes': {
    ...administrator,
    path: '/apis/authentication.k8s.io/v1/tokenreviews',
    body: () => ({
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token: `${'a'.repeat(900_000)}.${'b'.repeat(900_000)}.${'c'.repeat(900_000)}` },
    }),
    status: 201,
  },
  'a review with a label selector of 14,000 requirements': {
    ...tenant,
    path: ACCESS_REVIEWS,
    body: () => ({
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: {
        resourceAttributes: {
          verb: 'list',
          resource: 'configmaps',
          namespace: NAMESPACE,
          labelSelector: { requirements: list(11_000, (i) => ({ key: `k${i}`, operator: 'In', values: ['a', 'b'] })) },
        },
      },
    }),
    status: 201,
  },
  'a review with a label selector of 99,000 values': {
    ...tenant,
    path: ACCESS_REVIEWS,
    body: () => ({
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: {
        resourceAttributes: {
          verb: 'list',
          resource: 'configmaps',
          namespace: NAMESPACE,
          labelSelector: { requirements: [{ key: 'k', operator: 'In', values: list(99_000, (i) => i.toString(36)) }] },
        },
      },
    }),
    status: 201,
  },
  'a review of a user with 99,000 groups': {
    ...administrator,
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: () => ({
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: {
        user: 'u',
        groups: list(99_000, (i) => i.toString(36)),
        resourceAttributes: { verb: 'get', resource: 'configmaps', namespace: NAMESPACE },
      },
    }),
    status: 201,
  },
  'a role of 8,000 rules by a tenant': {
    ...tenant,
    path: ROLES,
    body: () => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'e5' },
      rules: list(8_000, (i) => ({
        apiGroups: [''],
        resources: ['configmaps'],
        verbs: ['get'],
        resourceNames: [`n${i}`],
      })),
    }),
    status: 201,
  },
  'a role of 8,000 rules that the tenant does not hold': {
    ...tenant,
    path: ROLES,
    body: () => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'e6' },
      rules: list(8_000, (i) => ({ apiGroups: ['x'], resources: [`r${i}`], verbs: ['get'] })),
    }),
    status: 403,
  },
  'a role of one rule with 300 by 300 by 3 entries': {
    ...tenant,
    path: ROLES,
    body: () => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'e7' },
      rules: [
        {
          apiGroups: list(300, (i) => `g${i}`),
          resources: list(300, (i) => `r${i}`),
          verbs: ['get', 'list', 'watch'],
          resourceNames: list(30, (i) => `n${i}`),
        },
      ],
    }),
    status: 403,
  },
  'the rules of a tenant with a large role': {
    ...tenant,
    path: '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
    body: () => ({
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectRulesReview',
      spec: { namespace: NAMESPACE },
    }),
    status: 201,
  },
  'a label selector of 30 KB in the URL': {
    ...tenant,
    method: 'GET',
    path: `${MAPS}?labelSelector=${encodeURIComponent(`k in (${list(4_500, (i) => `v${i}`).join()})`)}`,
    status: 200,
  },
  'a field selector of 30 KB in the URL': {
    ...tenant,
    method: 'GET',
    path: `${MAPS}?fieldSelector=${list(1_900, () => 'metadata.name=a').join()}%0a`,
    status: 200,
  },
  'a Table of a list with large objects': {
    ...tenant,
    method: 'GET',
    path: MAPS,
    accept: 'application/json;as=Table;g=meta.k8s.io;v=v1',
    status: 200,
  },
}
