import type { IpPermission } from '@aws-sdk/client-ec2'
import { type Infer, s } from '@crosstie/resources/provider'

const description = s.optional(s.string({ doc: 'What it is for.' }))

const permission = s.object({
  ipProtocol: s.string({ doc: 'tcp, udp, icmp, icmpv6, the number of a protocol, or -1 for all of them.' }),
  fromPort: s.optional(s.integer({ doc: 'First port, or type of ICMP message. Absent for all protocols.' })),
  toPort: s.optional(s.integer({ doc: 'Last port, or code of ICMP message. Absent for all protocols.' })),
  ipRanges: s.optional(
    s.list(s.object({ cidrIp: s.string({ doc: 'Range of IPv4 addresses.' }), description }), {
      doc: 'Others by IPv4 addresses.',
    }),
  ),
  ipv6Ranges: s.optional(
    s.list(s.object({ cidrIpv6: s.string({ doc: 'Range of IPv6 addresses.' }), description }), {
      doc: 'Others by IPv6 addresses.',
    }),
  ),
  prefixListIds: s.optional(
    s.list(s.object({ prefixListId: s.string({ doc: 'Id of the prefix list.' }), description }), {
      doc: 'Others by lists of addresses.',
    }),
  ),
  userIdGroupPairs: s.optional(
    s.list(
      s.object({
        groupId: s.optional(s.string({ doc: 'Id of the security group. Absent, and no name: this group itself.' })),
        groupName: s.optional(s.string({ doc: 'Name of the security group, where VPCs are not used.' })),
        userId: s.optional(s.string({ doc: 'The account of the security group.' })),
        vpcId: s.optional(s.string({ doc: 'The VPC of the security group.' })),
        vpcPeeringConnectionId: s.optional(s.string({ doc: 'The peering connection with that VPC.' })),
        description,
      }),
      { doc: 'Others by their security group.' },
    ),
  ),
})

/** A permission of a security group, as a spec states it. */
export type Permission = Infer<typeof permission>

/** Returns a field for a list of permissions. AWS groups rules differently, so lists are compared rule by rule. */
export const permissions = (doc: string) =>
  s.optional(
    s.list(permission, {
      doc,
      same: (desired, observed) =>
        sameRules(desired as unknown as readonly Permission[], observed as unknown as readonly Permission[]),
    }),
  )

/** One protocol, one port range and one peer. */
interface Rule {
  /** The identity of the rule in AWS. */
  readonly key: string
  readonly description: string
  readonly permission: IpPermission
}

const protocols: Readonly<Record<string, string>> = { 1: 'icmp', 6: 'tcp', 17: 'udp', 58: 'icmpv6', all: '-1' }

function protocolOf(name: string): string {
  const lower = name.toLowerCase()
  return protocols[lower] ?? lower
}

/** Splits permissions into rules. `self` is the id of the security group that contains them, if it is known. */
export function rulesOf(given: readonly Permission[], self = 'self'): ReadonlyMap<string, Rule> {
  const rules = new Map<string, Rule>()
  for (const { ipProtocol, fromPort, toPort, ...parties } of given) {
    const IpProtocol = protocolOf(ipProtocol)
    const ports = IpProtocol === '-1' ? {} : { FromPort: fromPort, ToPort: toPort }
    const add = (party: string, description: string | undefined, to: IpPermission) => {
      const key = JSON.stringify([IpProtocol, ports.FromPort, ports.ToPort, party])
      rules.set(key, { key, description: description ?? '', permission: { IpProtocol, ...ports, ...to } })
    }
    for (const { cidrIp, description } of parties.ipRanges ?? []) {
      add(cidrIp, description, { IpRanges: [{ CidrIp: cidrIp, Description: description }] })
    }
    for (const { cidrIpv6, description } of parties.ipv6Ranges ?? []) {
      add(cidrIpv6.toLowerCase(), description, { Ipv6Ranges: [{ CidrIpv6: cidrIpv6, Description: description }] })
    }
    for (const { prefixListId, description } of parties.prefixListIds ?? []) {
      add(prefixListId, description, { PrefixListIds: [{ PrefixListId: prefixListId, Description: description }] })
    }
    for (const pair of parties.userIdGroupPairs ?? []) {
      const group = pair.groupId ?? pair.groupName ?? self
      add(group, pair.description, {
        UserIdGroupPairs: [
          {
            ...(pair.groupName && !pair.groupId ? { GroupName: pair.groupName } : { GroupId: group }),
            UserId: pair.userId,
            VpcId: pair.vpcId,
            VpcPeeringConnectionId: pair.vpcPeeringConnectionId,
            Description: pair.description,
          },
        ],
      })
    }
  }
  return rules
}

function sameRules(desired: readonly Permission[], observed: readonly Permission[]): boolean {
  const [wanted, held] = [rulesOf(desired), rulesOf(observed)]
  const { missing, changed, extra } = compareRules(wanted, held)
  return missing.length === 0 && changed.length === 0 && extra.length === 0
}

/** Returns the rules to authorize, to update the description of, and to revoke. */
export function compareRules(wanted: ReadonlyMap<string, Rule>, held: ReadonlyMap<string, Rule>) {
  const both = [...wanted.values()].filter(({ key }) => held.has(key))
  return {
    missing: [...wanted.values()].filter(({ key }) => !held.has(key)),
    changed: both.filter(({ key, description }) => held.get(key)!.description !== description),
    extra: [...held.values()].filter(({ key }) => !wanted.has(key)),
  }
}

/** Converts permissions of AWS. A reference to the group itself is left out, as in a spec without the id. */
export function permissionsOf(told: readonly IpPermission[] | undefined, self: string): readonly Permission[] {
  return (told ?? []).map((each) => ({
    ipProtocol: each.IpProtocol ?? '-1',
    ...given({ fromPort: each.FromPort, toPort: each.ToPort }),
    ...list('ipRanges', each.IpRanges, ({ CidrIp, Description }) => ({
      cidrIp: CidrIp ?? '',
      ...given({ description: Description }),
    })),
    ...list('ipv6Ranges', each.Ipv6Ranges, ({ CidrIpv6, Description }) => ({
      cidrIpv6: CidrIpv6 ?? '',
      ...given({ description: Description }),
    })),
    ...list('prefixListIds', each.PrefixListIds, ({ PrefixListId, Description }) => ({
      prefixListId: PrefixListId ?? '',
      ...given({ description: Description }),
    })),
    ...list('userIdGroupPairs', each.UserIdGroupPairs, (pair) => ({
      ...given({
        groupId: pair.GroupId === self ? undefined : pair.GroupId,
        groupName: pair.GroupId ? undefined : pair.GroupName,
        userId: pair.UserId,
        vpcId: pair.VpcId,
        vpcPeeringConnectionId: pair.VpcPeeringConnectionId,
        description: pair.Description,
      }),
    })),
  }))
}

function list<N extends string, A, B>(name: N, items: readonly A[] | undefined, map: (item: A) => B) {
  return items && items.length > 0 ? ({ [name]: items.map(map) } as { [K in N]: B[] }) : {}
}

function given<T extends object>(values: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== '')
  return Object.fromEntries(entries) as { [K in keyof T]?: NonNullable<T[K]> }
}
