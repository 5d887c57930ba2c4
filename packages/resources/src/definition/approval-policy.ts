import type { KubeObject } from '@crosstie/kube'
import type { ManagedKind } from './managed.js'
import { ADMISSION_GROUP, noteOf, resourceRulesOf } from './name-policy.js'

/** The verb of RBAC rules that permits approvals of plans. */
export const APPROVE = 'approve'

const APPROVED = 'crossplane.io/approved-plan'
const REQUIRED = 'crossplane.io/approval'

const old = (name: string): string => `(oldObject == null ? '' : ${noteOf('oldObject', name)})`
const approves = `${noteOf('object', APPROVED)} != '' && ${noteOf('object', APPROVED)} != ${old(APPROVED)}`
const exempts = `${old(REQUIRED)} == 'required' && ${noteOf('object', REQUIRED)} != 'required'`

/**
 * Lets only users with the verb `approve` approve a plan, or lift the need for approval from an object. A
 * ValidatingAdmissionPolicy, since annotations are not subject to RBAC of their own.
 */
export function approvalPolicy(provider: string, kinds: readonly ManagedKind[]): readonly KubeObject[] {
  const name = `crosstie-approvals-${provider}`
  const apiVersion = `${ADMISSION_GROUP}/v1`
  const policy: KubeObject = {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: { resourceRules: resourceRulesOf(kinds, ['CREATE', 'UPDATE']) },
      matchConditions: [{ name: 'approves-or-exempts', expression: `(${approves}) || (${exempts})` }],
      validations: [
        {
          expression: `authorizer.group(request.resource.group).resource(request.resource.resource).name(object.metadata.?name.orValue('')).check('${APPROVE}').allowed()`,
          messageExpression: `'user ' + request.userInfo.username + ' may not approve plans of ' + object.kind + ' ' + object.metadata.?name.orValue('') + ': the annotations ${APPROVED} and ${REQUIRED} need the verb ${APPROVE} on ' + request.resource.resource + '.' + request.resource.group + ', which the ClusterRole crosstie:plans:approve grants'`,
          message: `the annotations ${APPROVED} and ${REQUIRED} need the verb ${APPROVE}`,
          reason: 'Forbidden',
        },
      ],
    },
  }
  const binding: KubeObject = {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  }
  return [policy, binding]
}
