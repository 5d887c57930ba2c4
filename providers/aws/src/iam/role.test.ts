import { AttachRolePolicyCommand, CreatePolicyCommand, IAMClient, ListRolesCommand } from '@aws-sdk/client-iam'
import { motoContract, motoForFile } from '../testing/contract.js'
import type { Moto } from '../testing/moto.js'
import { role } from './role.js'

const trust = (service: string) =>
  JSON.stringify({
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Principal: { Service: [service] }, Action: 'sts:AssumeRole' }],
  })

const allow = (Action: string) =>
  JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action, Resource: '*' }] })

const moto = await motoForFile()
if (moto) await contract(moto)

async function contract(moto: Moto): Promise<void> {
  const past = moto.client(IAMClient, 'us-east-1')
  const policy = async (PolicyName: string) => {
    const made = await past.send(new CreatePolicyCommand({ PolicyName, PolicyDocument: allow('s3:GetObject') }))
    return made.Policy!.Arn!
  }
  const [reader, writer, boundary] = [await policy('reader'), await policy('writer'), await policy('boundary')]
  const names = async () => (await past.send(new ListRolesCommand({}))).Roles!.map(({ RoleName }) => RoleName)

  motoContract(moto, role, async () => ({
    example: {
      path: '/teams/net/',
      assumeRolePolicyDocument: trust('ec2.amazonaws.com'),
      description: 'What instances are.',
      maxSessionDuration: 7200,
      permissionsBoundary: boundary,
      inlinePolicies: [
        { policyName: 'logs', policyDocument: allow('logs:PutLogEvents') },
        { policyName: 'metrics', policyDocument: allow('cloudwatch:PutMetricData') },
      ],
      managedPolicyArns: [reader],
      tags: { team: 'net' },
    },
    change: {
      assumeRolePolicyDocument: trust('eks.amazonaws.com'),
      description: 'What clusters are.',
      maxSessionDuration: 3600,
      permissionsBoundary: '',
      inlinePolicies: [{ policyName: 'logs', policyDocument: allow('logs:*') }],
      managedPolicyArns: [writer],
      tags: { team: 'ops' },
    },
    meddle: async (RoleName) => {
      await past.send(new AttachRolePolicyCommand({ RoleName, PolicyArn: writer }))
    },
    exists: async (name) => (await names()).includes(name),
    count: async () => (await names()).length,
  }))
}
