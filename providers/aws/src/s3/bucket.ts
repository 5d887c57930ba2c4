import {
  type BucketCannedACL,
  type BucketLocationConstraint,
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteBucketTaggingCommand,
  GetBucketAclCommand,
  GetBucketTaggingCommand,
  type Grant,
  HeadBucketCommand,
  type HeadBucketCommandOutput,
  PutBucketAclCommand,
  PutBucketTaggingCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { absent, defineManaged, present } from '@crosstie/resources/provider'
import { connectTo } from '../clients.js'
import { providerConfig } from '../config.js'
import { unless, unlessNotFound } from '../errors.js'
import { partly } from '../partly.js'
import { type Tags, tagChanges, tagList, tagsOf } from '../tags.js'
import { observation, parameters } from './fields.js'
import { type PartValues, readParts, writeParts } from './parts.js'

const s3 = connectTo(S3Client)

/**
 * The managed kind for S3 buckets. It has no `list`: ListBuckets returns only names, and reading the settings takes
 * a dozen calls per bucket.
 */
export const bucket = defineManaged({
  group: 's3.aws.crossplane.io',
  version: 'v1beta1',
  kind: 'Bucket',
  doc: 'Keeps objects. Its name is taken for all accounts of AWS. It must be empty to be deleted.',
  categories: ['crossplane', 'managed', 'aws'],
  parameters,
  observation,
  naming: 'user-chosen',
  tags: { field: 'tags', setAfterCreate: true },
  providerConfig,
  permissions: {
    Observe: [
      's3:ListBucket',
      's3:GetBucketAcl',
      's3:GetBucketTagging',
      's3:GetBucketVersioning',
      's3:GetBucketOwnershipControls',
      's3:GetBucketPublicAccessBlock',
      's3:GetEncryptionConfiguration',
      's3:GetBucketObjectLockConfiguration',
      's3:GetLifecycleConfiguration',
      's3:GetBucketCORS',
      's3:GetBucketPolicy',
      's3:GetBucketLogging',
      's3:GetBucketWebsite',
      's3:GetAccelerateConfiguration',
      's3:GetBucketRequestPayment',
      's3:GetBucketNotification',
    ],
    Create: ['s3:CreateBucket', 's3:PutBucketAcl', 's3:PutBucketTagging', ...written()],
    Update: ['s3:PutBucketAcl', 's3:PutBucketTagging', 's3:DeleteBucketPolicy', ...written()],
    Delete: ['s3:DeleteBucket'],
    LateInitialize: [],
  },

  connect: s3,

  async observe({ client, externalName: Bucket, forProvider, signal: abortSignal }) {
    const head = await unlessNotFound(client.send(new HeadBucketCommand({ Bucket }), { abortSignal }))
    if (!head) return absent
    const [parts, acl, tagging] = await Promise.all([
      readParts(client, Bucket, abortSignal),
      unless(client.send(new GetBucketAclCommand({ Bucket }), { abortSignal }), 'unsupported'),
      unlessNotFound(client.send(new GetBucketTaggingCommand({ Bucket }), { abortSignal })),
    ])
    const { region } = forProvider
    const endpoint = await endpointOf(client, Bucket, region)
    return present({
      ready: true,
      connection: { endpoint, region, bucket: Bucket, arn: arnOf(head, Bucket, region) },
      atProvider: {
        region,
        acl: cannedAclOf(acl?.Grants ?? [], acl?.Owner?.ID),
        ...(parts as object),
        policy: (parts.policy as string | undefined) ?? '',
        tags: tagsOf(tagging?.TagSet),
        arn: arnOf(head, Bucket, region),
        bucketRegion: head.BucketRegion ?? region,
        ownerId: acl?.Owner?.ID,
        bucketDomainName: new URL(endpoint).host,
      },
    })
  },

  async create({ client, externalName: Bucket, forProvider, tags, signal: abortSignal }) {
    const { region, acl, objectLockEnabledForBucket, objectOwnership } = forProvider
    // S3 rejects us-east-1 as a location constraint.
    const LocationConstraint = region === 'us-east-1' ? undefined : (region as BucketLocationConstraint)
    await client.send(
      new CreateBucketCommand({
        Bucket,
        ACL: acl,
        ObjectLockEnabledForBucket: objectLockEnabledForBucket,
        ObjectOwnership: objectOwnership,
        CreateBucketConfiguration: LocationConstraint && { LocationConstraint },
      }),
      { abortSignal },
    )
    await partly(Bucket, async () => {
      await writeTags(client, Bucket, { set: tags, unset: [] }, abortSignal)
      await writeParts(client, Bucket, forProvider as PartValues, abortSignal)
    })
    return {}
  },

  async update({ client, externalName: Bucket, forProvider, changed, removed, signal: abortSignal }) {
    // Parts are replaced as a whole, so unchanged fields are sent again.
    const named = Object.keys(changed).map((name) => [name, forProvider[name as keyof typeof forProvider]])
    await writeParts(client, Bucket, Object.fromEntries(named), abortSignal)
    if (changed.acl) {
      await client.send(new PutBucketAclCommand({ Bucket, ACL: changed.acl as BucketCannedACL }), { abortSignal })
    }
    const retag = tagChanges({ changed, removed })
    if (retag) await writeTags(client, Bucket, retag, abortSignal)
  },

  async delete({ client, externalName: Bucket, signal: abortSignal }) {
    await unlessNotFound(client.send(new DeleteBucketCommand({ Bucket }), { abortSignal }))
  },
})

function written(): readonly string[] {
  return [
    's3:PutBucketVersioning',
    's3:PutBucketOwnershipControls',
    's3:PutBucketPublicAccessBlock',
    's3:PutEncryptionConfiguration',
    's3:PutBucketObjectLockConfiguration',
    's3:PutLifecycleConfiguration',
    's3:PutBucketCORS',
    's3:PutBucketPolicy',
    's3:PutBucketLogging',
    's3:PutBucketWebsite',
    's3:PutAccelerateConfiguration',
    's3:PutBucketRequestPayment',
    's3:PutBucketNotification',
  ]
}

const arnOf = ({ BucketArn }: HeadBucketCommandOutput, bucket: string, region: string): string =>
  BucketArn ?? `arn:${partitionOf(region)}:s3:::${bucket}`

function partitionOf(region: string): string {
  if (region.startsWith('cn-')) return 'aws-cn'
  return region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws'
}

/** Returns the endpoint for applications: that of the ProviderConfig, or that of AWS. */
async function endpointOf(client: S3Client, bucket: string, region: string): Promise<string> {
  const own = await client.config.endpoint?.()
  if (own) return `${own.protocol}//${own.hostname}${own.port ? `:${own.port}` : ''}`
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
  return `https://${bucket}.s3.${region}.${domain}`
}

const group = (name: string) => `http://acs.amazonaws.com/groups/global/${name}`

/** Returns the canned ACL with exactly these grants, or undefined. */
function cannedAclOf(grants: readonly Grant[], owner: string | undefined) {
  const others = grants
    .filter(({ Grantee }) => Grantee?.ID === undefined || Grantee.ID !== owner)
    .map(({ Grantee, Permission }) => `${Grantee?.URI ?? Grantee?.ID} ${Permission}`)
    .sort()
    .join()
  const canned: Readonly<Record<string, 'private' | 'public-read' | 'public-read-write' | 'authenticated-read'>> = {
    '': 'private',
    [`${group('AllUsers')} READ`]: 'public-read',
    [`${group('AllUsers')} READ,${group('AllUsers')} WRITE`]: 'public-read-write',
    [`${group('AuthenticatedUsers')} READ`]: 'authenticated-read',
  }
  return grants.length > 0 ? canned[others] : undefined
}

/** Writes tags. S3 replaces all tags, so foreign tags are read and written again. */
async function writeTags(
  client: S3Client,
  Bucket: string,
  { set, unset }: { readonly set: Tags; readonly unset: readonly string[] },
  abortSignal: AbortSignal,
): Promise<void> {
  const held = await unlessNotFound(client.send(new GetBucketTaggingCommand({ Bucket }), { abortSignal }))
  const kept = Object.entries(tagsOf(held?.TagSet)).filter(([key]) => !unset.includes(key))
  const TagSet = tagList({ ...Object.fromEntries(kept), ...set })
  if (TagSet.length === 0) await client.send(new DeleteBucketTaggingCommand({ Bucket }), { abortSignal })
  else await client.send(new PutBucketTaggingCommand({ Bucket, Tagging: { TagSet } }), { abortSignal })
}
