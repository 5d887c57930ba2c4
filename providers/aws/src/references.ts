import { s } from '@crosstie/resources/provider'
import { securityGroup } from './ec2/securitygroup.js'
import { subnet } from './ec2/subnet.js'
import { role } from './iam/role.js'

/** Fields that lead to kinds of other services, so that they are called and described alike. */

interface SubnetOptions {
  readonly refField?: string
  readonly immutable?: boolean
  readonly requiredUnless?: readonly string[]
}

export const subnetIds = (doc: string, { refField, ...more }: SubnetOptions = {}) => {
  const named = refField === undefined ? {} : { refField }
  return s.reference(s.list(s.string(), { doc, set: true, ...more }), { to: () => subnet.type, ...named })
}

export const securityGroupIds = (doc: string, more: { readonly immutable?: boolean } = {}) =>
  s.reference(s.list(s.string(), { doc, set: true, ...more }), { to: () => securityGroup.type })

export const roleArn = (options: { readonly doc: string; readonly immutable?: boolean }) =>
  s.reference(s.string(options), { to: () => role.type, value: 'status.atProvider.arn' })
