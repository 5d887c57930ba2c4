import type { KubeObject } from '@crosstie/kube'
import { ADMISSION_GROUP, denyBinding } from '../definition/name-policy.js'
import { requestTypes } from './define.js'

/** The name of the policy and of its binding. */
export const IDENTITY_POLICY = 'crosstie-request-identity'

/**
 * Returns an admission policy that lets users create requests only in their own name. CRDs cannot record who
 * created an object, so the client writes the name and the server compares it with the authenticated user. Without
 * this policy the controllers reject all requests.
 */
export function requestIdentityPolicy(): readonly KubeObject[] {
  const apiVersion = `${ADMISSION_GROUP}/v1`
  const policy: KubeObject = {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: IDENTITY_POLICY },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: [...new Set(requestTypes.map(({ group }) => group))],
            apiVersions: ['*'],
            operations: ['CREATE'],
            resources: requestTypes.map(({ resource }) => resource),
            scope: '*',
          },
        ],
      },
      validations: [
        {
          expression: 'object.spec.requestedBy.username == request.userInfo.username',
          messageExpression:
            "'spec.requestedBy.username must be ' + request.userInfo.username + ', the user who creates the request'",
          message: 'spec.requestedBy.username must be the user who creates the request',
          reason: 'Forbidden',
        },
        {
          expression:
            'object.spec.requestedBy.?groups.orValue([]).all(group, group in request.userInfo.?groups.orValue([]))',
          message: 'spec.requestedBy.groups names a group that the user who creates the request is not in',
          reason: 'Forbidden',
        },
      ],
    },
  }
  return [policy, denyBinding(IDENTITY_POLICY)]
}
