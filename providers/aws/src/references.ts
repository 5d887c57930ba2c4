import type { ResourceType } from '@crosstie/kube'
import { s } from '@crosstie/resources/provider'

/** Fields that lead to kinds of other services, so that they are called and described alike. */

const typeOf = (group: string, kind: string, resource: string): ResourceType => ({
  group: `${group}.aws.crossplane.io`,
  version: 'v1beta1',
  kind,
  resource,
  namespaced: false,
})

const subnetType = typeOf('ec2', 'Subnet', 'subnets')
const securityGroupType = typeOf('ec2', 'SecurityGroup', 'securitygroups')
const roleType = typeOf('iam', 'Role', 'roles')

export const subnetIds = (doc: string, more: { readonly refField?: string; readonly immutable?: boolean } = {}) => {
  const { immutable = false, ...named } = more
  return s.reference(s.list(s.string(), { doc, set: true, immutable }), { to: () => subnetType, ...named })
}

export const securityGroupIds = (doc: string, more: { readonly immutable?: boolean } = {}) =>
  s.reference(s.list(s.string(), { doc, set: true, ...more }), { to: () => securityGroupType })

export const roleArn = (options: { readonly doc: string; readonly immutable?: boolean }) =>
  s.reference(s.string(options), { to: () => roleType, value: 'status.atProvider.arn' })
