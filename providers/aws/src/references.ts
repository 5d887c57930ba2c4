import { s } from '@crosstie/resources/provider'
import { securityGroup } from './ec2/securitygroup.js'
import { subnet } from './ec2/subnet.js'
import { role } from './iam/role.js'

/** Options of a field that refers to subnets. */
interface SubnetOptions {
  readonly refField?: string
  readonly immutable?: boolean
  readonly requiredUnless?: readonly string[]
}

/** A field that refers to subnets by their ids. */
export const subnetIds = (doc: string, { refField, ...more }: SubnetOptions = {}) => {
  const named = refField === undefined ? {} : { refField }
  return s.reference(s.list(s.string(), { doc, set: true, ...more }), { to: () => subnet.type, ...named })
}

/** A field that refers to security groups by their ids. */
export const securityGroupIds = (doc: string, more: { readonly immutable?: boolean } = {}) =>
  s.reference(s.list(s.string(), { doc, set: true, ...more }), { to: () => securityGroup.type })

/** A field that refers to a role by its ARN. */
export const roleArn = (options: { readonly doc: string; readonly immutable?: boolean }) =>
  s.reference(s.string(options), { to: () => role.type, value: 'status.atProvider.arn' })
