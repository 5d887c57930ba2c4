import type { KubeObject } from '@crosstie/kube'
import type { ManagedKind } from './managed.js'
import { ADMISSION_GROUP, denyBinding, noteOf, resourceRulesOf } from './name-policy.js'

/** The RBAC verb that permits the approval of plans. */
export const APPROVE = 'approve'

const APPROVED = 'crossplane.io/approved-plan'
const REQUIRED = 'crossplane.io/approval'

const old = (name: string): string => `(oldObject == null ? '' : ${noteOf('oldObject', name)})`
const approves = `${noteOf('object', APPROVED)} != '' && ${noteOf('object', APPROVED)} != ${old(APPROVED)}`
const exempts = `${old(REQUIRED)} == 'required' && ${noteOf('object', REQUIRED)} != 'required'`

/**
 * Returns a ValidatingAdmissionPolicy and its binding. Only users with the verb `approve` may approve a plan or
 * remove the approval requirement from an object. An admission policy is necessary because RBAC does not cover
 * individual annotations.
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
  return [policy, denyBinding(name)]
}
