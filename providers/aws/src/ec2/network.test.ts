import {
  AuthorizeSecurityGroupIngressCommand,
  CreateInternetGatewayCommand,
  CreateRouteCommand,
  CreateSubnetCommand,
  CreateVpcCommand,
  DescribeInternetGatewaysCommand,
  DescribeRouteTablesCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  DescribeVpcsCommand,
  DetachInternetGatewayCommand,
  EC2Client,
  ModifySubnetAttributeCommand,
  ModifyVpcAttributeCommand,
} from '@aws-sdk/client-ec2'
import { motoContract, motoForFile } from '../testing/contract.js'
import type { Moto } from '../testing/moto.js'
import { internetGateway } from './internetgateway.js'
import { routeTable } from './routetable.js'
import { securityGroup } from './securitygroup.js'
import { subnet } from './subnet.js'
import { vpc } from './vpc.js'

const region = 'eu-west-1'

/** Reads resources without the code under test. */
const look = (ids: () => Promise<readonly (string | undefined)[]>) => ({
  exists: async (id: string) => (await ids()).includes(id),
  count: async () => (await ids()).length,
})

const moto = await motoForFile()
if (moto) await contracts(moto)

async function contracts(moto: Moto): Promise<void> {
  const past = moto.client(EC2Client, region)
  const newVpc = async () => {
    const made = await past.send(new CreateVpcCommand({ CidrBlock: '10.0.0.0/16', AmazonProvidedIpv6CidrBlock: true }))
    return made.Vpc!.VpcId!
  }

  motoContract(moto, vpc, async () => ({
    example: {
      region,
      cidrBlock: '10.1.0.0/16',
      instanceTenancy: 'dedicated',
      enableDnsSupport: true,
      enableDnsHostnames: true,
      enableNetworkAddressUsageMetrics: true,
      tags: { team: 'net' },
    },
    change: { enableDnsHostnames: false, instanceTenancy: 'default', tags: { team: 'ops' } },
    meddle: async (VpcId) => {
      await past.send(new ModifyVpcAttributeCommand({ VpcId, EnableDnsHostnames: { Value: false } }))
    },
    ...look(async () => (await past.send(new DescribeVpcsCommand({}))).Vpcs!.map(({ VpcId }) => VpcId)),
  }))

  motoContract(moto, subnet, async () => ({
    example: {
      region,
      vpcId: await newVpc(),
      cidrBlock: '10.0.1.0/24',
      availabilityZone: 'eu-west-1b',
      mapPublicIpOnLaunch: true,
      tags: { team: 'net' },
    },
    change: { mapPublicIpOnLaunch: false, tags: { team: 'net', tier: 'public' } },
    meddle: async (SubnetId) => {
      await past.send(new ModifySubnetAttributeCommand({ SubnetId, MapPublicIpOnLaunch: { Value: false } }))
    },
    ...look(async () => (await past.send(new DescribeSubnetsCommand({}))).Subnets!.map(({ SubnetId }) => SubnetId)),
  }))

  motoContract(moto, internetGateway, async () => {
    const [vpcId, other] = [await newVpc(), await newVpc()]
    return {
      example: { region, vpcId, tags: { team: 'net' } },
      change: { vpcId: other },
      meddle: async (InternetGatewayId) => {
        await past.send(new DetachInternetGatewayCommand({ InternetGatewayId, VpcId: vpcId }))
      },
      ...look(async () => {
        const { InternetGateways = [] } = await past.send(new DescribeInternetGatewaysCommand({}))
        return InternetGateways.map(({ InternetGatewayId }) => InternetGatewayId)
      }),
    }
  })

  motoContract(moto, securityGroup, async () => {
    const vpcId = await newVpc()
    const https = { ipProtocol: 'tcp', fromPort: 443, toPort: 443 }
    const everywhere = [{ cidrIp: '0.0.0.0/0', description: 'everybody' }]
    const ssh = { IpProtocol: 'tcp', FromPort: 22, ToPort: 22, IpRanges: [{ CidrIp: '0.0.0.0/0' }] }
    return {
      example: {
        region,
        vpcId,
        groupName: 'web',
        description: 'What serves pages.',
        ingress: [
          { ...https, ipRanges: everywhere },
          { ...https, ipProtocol: '6', ipv6Ranges: [{ cidrIpv6: '::/0' }] },
          { ipProtocol: '-1', userIdGroupPairs: [{ description: 'among themselves' }] },
        ],
        egress: [{ ipProtocol: 'udp', fromPort: 53, toPort: 53, ipRanges: [{ cidrIp: '10.0.0.0/16' }] }],
        tags: { team: 'net' },
      },
      change: {
        ingress: [
          { ...https, ipRanges: [{ cidrIp: '0.0.0.0/0', description: 'the world' }, { cidrIp: '192.168.0.0/16' }] },
        ],
      },
      meddle: async (GroupId) => {
        await past.send(new AuthorizeSecurityGroupIngressCommand({ GroupId, IpPermissions: [ssh] }))
      },
      ...look(async () => {
        const { SecurityGroups = [] } = await past.send(new DescribeSecurityGroupsCommand({}))
        return SecurityGroups.map(({ GroupId }) => GroupId)
      }),
    }
  })

  motoContract(moto, routeTable, async () => {
    const VpcId = await newVpc()
    const subnetOf = async (CidrBlock: string) =>
      (await past.send(new CreateSubnetCommand({ VpcId, CidrBlock }))).Subnet!.SubnetId!
    const gateway = async () =>
      (await past.send(new CreateInternetGatewayCommand({}))).InternetGateway!.InternetGatewayId!
    const [first, second] = [await gateway(), await gateway()]
    const [a, b] = [await subnetOf('10.0.1.0/24'), await subnetOf('10.0.2.0/24')]
    return {
      example: {
        region,
        vpcId: VpcId,
        routes: [
          { destinationCidrBlock: '0.0.0.0/0' },
          { destinationIpv6CidrBlock: '::/0' },
          { destinationCidrBlock: '192.168.0.0/16', gatewayId: second },
        ],
        internetGatewayId: first,
        subnetIds: [a],
        tags: { team: 'net' },
      },
      change: {
        routes: [{ destinationCidrBlock: '0.0.0.0/0' }, { destinationCidrBlock: '172.16.0.0/12', gatewayId: first }],
        internetGatewayId: second,
        subnetIds: [b],
      },
      meddle: async (RouteTableId) => {
        const route = { RouteTableId, DestinationCidrBlock: '198.51.100.0/24', GatewayId: first }
        await past.send(new CreateRouteCommand(route))
      },
      ...look(async () => {
        const { RouteTables = [] } = await past.send(new DescribeRouteTablesCommand({}))
        return RouteTables.map(({ RouteTableId }) => RouteTableId)
      }),
    }
  })
}
