import { ListBucketsCommand, PutPublicAccessBlockCommand, S3Client } from '@aws-sdk/client-s3'
import { motoContract, motoForFile } from '../testing/contract.js'
import type { Moto } from '../testing/moto.js'
import { bucket } from './bucket.js'

const region = 'eu-west-1'

const onlyTls = (name: string) =>
  JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Deny',
        Principal: '*',
        Action: 's3:*',
        Resource: [`arn:aws:s3:::${name}`, `arn:aws:s3:::${name}/*`],
        Condition: { Bool: { 'aws:SecureTransport': false } },
      },
    ],
  })

const moto = await motoForFile()
if (moto) contract(moto)

function contract(moto: Moto): void {
  const past = moto.client(S3Client, region)
  const names = async () => (await past.send(new ListBucketsCommand({}))).Buckets!.map(({ Name }) => Name)

  motoContract(moto, bucket, async () => ({
    example: {
      region,
      acl: 'private',
      objectLockEnabledForBucket: true,
      versioningConfiguration: { status: 'Enabled' },
      serverSideEncryptionConfiguration: {
        rules: [{ applyServerSideEncryptionByDefault: { sseAlgorithm: 'AES256' }, bucketKeyEnabled: true }],
      },
      publicAccessBlockConfiguration: {
        blockPublicAcls: true,
        ignorePublicAcls: true,
        blockPublicPolicy: true,
        restrictPublicBuckets: true,
      },
      ownershipControls: { rules: [{ objectOwnership: 'BucketOwnerPreferred' }] },
      lifecycleConfiguration: {
        rules: [
          {
            id: 'logs',
            status: 'Enabled',
            filter: { prefix: 'logs/' },
            expiration: { days: 90 },
            transitions: [{ days: 30, storageClass: 'STANDARD_IA' }],
            abortIncompleteMultipartUpload: { daysAfterInitiation: 7 },
          },
          {
            id: 'old',
            status: 'Enabled',
            filter: { and: { prefix: 'tmp/', tags: [{ key: 'keep', value: 'no' }] } },
            noncurrentVersionExpiration: { noncurrentDays: 10 },
          },
        ],
      },
      corsConfiguration: {
        corsRules: [{ allowedMethods: ['GET'], allowedOrigins: ['https://example.org'], maxAgeSeconds: 60 }],
      },
      policy: onlyTls('contract'),
      websiteConfiguration: { indexDocument: { suffix: 'index.html' }, errorDocument: { key: 'error.html' } },
      objectLockConfiguration: {
        objectLockEnabled: 'Enabled',
        rule: { defaultRetention: { mode: 'GOVERNANCE', days: 1 } },
      },
      accelerateConfiguration: { status: 'Enabled' },
      notificationConfiguration: {
        queueConfigurations: [
          {
            id: 'new',
            queueArn: 'arn:aws:sqs:eu-west-1:123456789012:news',
            events: ['s3:ObjectCreated:*'],
            filter: { key: { filterRules: [{ name: 'prefix', value: 'in/' }] } },
          },
        ],
      },
      tags: { team: 'data' },
    },
    change: {
      versioningConfiguration: { status: 'Suspended' },
      lifecycleConfiguration: { rules: [{ id: 'all', status: 'Enabled', filter: {}, expiration: { days: 5 } }] },
      corsConfiguration: { corsRules: [] },
      policy: '',
      accelerateConfiguration: { status: 'Suspended' },
      ownershipControls: { rules: [{ objectOwnership: 'BucketOwnerEnforced' }] },
      tags: { team: 'data', tier: 'gold' },
    },
    meddle: async (Bucket) => {
      const PublicAccessBlockConfiguration = { BlockPublicAcls: false }
      await past.send(new PutPublicAccessBlockCommand({ Bucket, PublicAccessBlockConfiguration }))
    },
    exists: async (name) => (await names()).includes(name),
    count: async () => (await names()).length,
  }))
}
