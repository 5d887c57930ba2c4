import { type Binding, type ClaimKind, type Configuring, defineBinding } from '@crosstie/resources/provider'
import { internetGateway } from './internetgateway.js'
import { routeTable } from './routetable.js'
import { securityGroup } from './securitygroup.js'
import { subnet } from './subnet.js'
import { vpc } from './vpc.js'

/** Returns the bindings for the network of a claim, as members of its aggregate. */
export function networkFor(claim: ClaimKind): readonly Binding[] {
  return [
    ...[vpc, subnet, internetGateway, routeTable].map((managed) =>
      defineBinding({ claim, managed, role: 'supporting' }),
    ),
    defineBinding({ claim, managed: securityGroup, role: 'supporting', configure: groupOf }),
  ]
}

/** Generates the group name. Group names are unique in a VPC, so a class for many claims cannot set one. */
function groupOf({ claim, forProvider }: Configuring) {
  const { namespace, name, uid = '' } = claim.metadata
  const groupName = `${namespace}-${name}-${uid.slice(0, 8)}`
  return { groupName, description: `For ${claim.kind} ${namespace}/${name}`, ...forProvider }
}
