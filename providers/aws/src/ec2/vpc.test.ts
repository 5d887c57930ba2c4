import { DescribeVpcsCommand, EC2Client, ModifyVpcAttributeCommand } from '@aws-sdk/client-ec2'
import { clientFor } from '../clients.js'
import { motoContract, motoForFile } from '../testing/contract.js'
import { vpc } from './vpc.js'

const moto = await motoForFile()
if (moto) {
  const past = clientFor(EC2Client, moto.config(), 'eu-west-1')
  const ids = async () => (await past.send(new DescribeVpcsCommand({}))).Vpcs!.map(({ VpcId }) => VpcId!)
  motoContract(moto, vpc, async () => ({
    example: {
      region: 'eu-west-1',
      cidrBlock: '10.1.0.0/16',
      enableDnsSupport: true,
      enableDnsHostnames: true,
      tags: { team: 'net' },
    },
    change: { enableDnsHostnames: false, tags: { team: 'ops' } },
    meddle: async (VpcId) => {
      await past.send(new ModifyVpcAttributeCommand({ VpcId, EnableDnsHostnames: { Value: false } }))
    },
    exists: async (id) => (await ids()).includes(id),
    count: async () => (await ids()).length,
  }))
}
