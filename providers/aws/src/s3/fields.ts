import { s } from '@crosstie/resources/provider'
import { policyDocument, region, tags } from '../fields.js'

/** The settings of a bucket, named as in the S3 API. An empty list removes a setting. */

const text = (doc: string) => s.optional(s.string({ doc }))
const number = (doc: string) => s.optional(s.integer({ doc }))
const flag = (doc: string) => s.optional(s.boolean({ doc }))
const enabled = ['Enabled', 'Disabled'] as const

const storageClasses = [
  'GLACIER',
  'STANDARD_IA',
  'ONEZONE_IA',
  'INTELLIGENT_TIERING',
  'DEEP_ARCHIVE',
  'GLACIER_IR',
] as const

const tag = s.object({ key: s.string({ doc: 'Key of the tag.' }), value: s.string({ doc: 'Value of the tag.' }) })

const versioningConfiguration = s.object(
  { status: s.string({ doc: 'Whether versions of objects are kept.', enum: ['Enabled', 'Suspended'] }) },
  { doc: 'Versions of objects.' },
)

const serverSideEncryptionConfiguration = s.object(
  {
    rules: s.list(
      s.object({
        applyServerSideEncryptionByDefault: s.optional(
          s.object(
            {
              sseAlgorithm: s.string({
                doc: 'How.',
                enum: ['AES256', 'aws:kms', 'aws:kms:dsse', 'aws:fsx', 'aws:backup'],
              }),
              kmsMasterKeyID: text('The KMS key. That of Amazon when absent.'),
            },
            { doc: 'What objects are encrypted with that do not say so themselves.' },
          ),
        ),
        bucketKeyEnabled: flag('Ask KMS for a key of the bucket, not of each object.'),
        blockedEncryptionTypes: s.optional(
          s.object(
            { encryptionType: s.list(s.string(), { set: true, doc: 'NONE or SSE-C.' }) },
            { doc: 'What objects may not be encrypted with.' },
          ),
        ),
      }),
      { doc: 'One rule.' },
    ),
  },
  { doc: 'How objects are encrypted.' },
)

const publicAccessBlockConfiguration = s.object(
  {
    blockPublicAcls: flag('Refuse ACLs that let everybody in.'),
    ignorePublicAcls: flag('Ignore ACLs that let everybody in.'),
    blockPublicPolicy: flag('Refuse policies that let everybody in.'),
    restrictPublicBuckets: flag('Let only the account and services of AWS in when the policy is public.'),
  },
  { doc: 'Keeps everybody out, whatever policies and ACLs say.' },
)

const size = {
  objectSizeGreaterThan: number('Only objects of more bytes.'),
  objectSizeLessThan: number('Only objects of fewer bytes.'),
}

const lifecycleConfiguration = s.object(
  {
    rules: s.list(
      s.object({
        id: text('Name of the rule. AWS makes one up when absent.'),
        status: s.string({ doc: 'Whether it applies.', enum: enabled }),
        filter: s.optional(
          s.object(
            {
              prefix: text('Only objects whose key begins so.'),
              tag: s.optional(tag),
              ...size,
              and: s.optional(
                s.object(
                  {
                    prefix: text('Only objects whose key begins so.'),
                    tags: s.optional(s.list(tag, { doc: 'Only objects with all of these tags.' })),
                    ...size,
                  },
                  { doc: 'More than one condition.' },
                ),
              ),
            },
            { doc: 'Which objects. All of them when empty.' },
          ),
        ),
        expiration: s.optional(
          s.object(
            {
              date: text('From when on, as 2026-01-01T00:00:00Z.'),
              days: number('After so many days.'),
              expiredObjectDeleteMarker: flag('Remove delete markers that hide nothing.'),
            },
            { doc: 'When objects are deleted.' },
          ),
        ),
        transitions: s.optional(
          s.list(
            s.object({
              date: text('From when on, as 2026-01-01T00:00:00Z.'),
              days: number('After so many days.'),
              storageClass: s.string({ doc: 'Where to.', enum: storageClasses }),
            }),
            { doc: 'When objects are moved to cheaper storage.' },
          ),
        ),
        noncurrentVersionExpiration: s.optional(
          s.object(
            {
              noncurrentDays: number('After so many days.'),
              newerNoncurrentVersions: number('How many of them are kept.'),
            },
            { doc: 'When old versions are deleted.' },
          ),
        ),
        noncurrentVersionTransitions: s.optional(
          s.list(
            s.object({
              noncurrentDays: number('After so many days.'),
              newerNoncurrentVersions: number('How many of them stay.'),
              storageClass: s.string({ doc: 'Where to.', enum: storageClasses }),
            }),
            { doc: 'When old versions are moved to cheaper storage.' },
          ),
        ),
        abortIncompleteMultipartUpload: s.optional(
          s.object(
            { daysAfterInitiation: s.integer({ doc: 'After so many days.' }) },
            { doc: 'When uploads that were not finished are thrown away.' },
          ),
        ),
      }),
      { set: true, doc: 'All rules.' },
    ),
    transitionDefaultMinimumObjectSize: s.optional(
      s.string({
        doc: 'Which objects are too small to be moved.',
        enum: ['all_storage_classes_128K', 'varies_by_storage_class'],
      }),
    ),
  },
  { doc: 'What becomes of objects with time.' },
)

const strings = (doc: string) => s.list(s.string(), { set: true, doc })

const corsConfiguration = s.object(
  {
    corsRules: s.list(
      s.object({
        id: text('Name of the rule.'),
        allowedMethods: strings('GET, PUT, HEAD, POST, DELETE.'),
        allowedOrigins: strings('From where.'),
        allowedHeaders: s.optional(strings('Which headers a request may have.')),
        exposeHeaders: s.optional(strings('Which headers a page may read.')),
        maxAgeSeconds: number('How long browsers remember the answer.'),
      }),
      { doc: 'All rules, the first that fits applies.' },
    ),
  },
  { doc: 'Which pages of other sites may use the bucket.' },
)

const ownershipControls = s.object(
  {
    rules: s.list(
      s.object({
        objectOwnership: s.string({
          doc: 'Who owns what others upload.',
          enum: ['BucketOwnerPreferred', 'ObjectWriter', 'BucketOwnerEnforced'],
        }),
      }),
      { doc: 'One rule.' },
    ),
  },
  { doc: 'Who owns objects, and whether ACLs mean anything.' },
)

const grantee = s.object({
  type: s.string({ doc: 'What the grantee is.', enum: ['CanonicalUser', 'AmazonCustomerByEmail', 'Group'] }),
  id: text('Canonical user id.'),
  uri: text('URI of the group.'),
  emailAddress: text('Address of the account.'),
})

const bucketLoggingStatus = s.object(
  {
    loggingEnabled: s.object(
      {
        targetBucket: s.string({ doc: 'The bucket that logs are written to.' }),
        targetPrefix: s.string({ doc: 'What their keys begin with.' }),
        targetGrants: s.optional(
          s.list(
            s.object({ grantee, permission: s.string({ doc: 'What.', enum: ['FULL_CONTROL', 'READ', 'WRITE'] }) }),
            { doc: 'Who may use the logs.' },
          ),
        ),
        targetObjectKeyFormat: s.optional(
          s.object(
            {
              partitionedPrefix: s.object(
                {
                  partitionDateSource: s.string({ doc: 'Which time.', enum: ['EventTime', 'DeliveryTime'] }),
                },
                { doc: 'Keys hold account, region, bucket and date.' },
              ),
            },
            { doc: 'What keys of logs look like. Just the time when absent.' },
          ),
        ),
      },
      { doc: 'Where to.' },
    ),
  },
  { doc: 'A log of who did what.' },
)

const protocol = s.optional(s.string({ doc: 'http or https.', enum: ['http', 'https'] }))

const websiteConfiguration = s.object(
  {
    indexDocument: s.optional(s.object({ suffix: s.string({ doc: 'Object that stands for a folder.' }) })),
    errorDocument: s.optional(s.object({ key: s.string({ doc: 'Object that is served with an error.' }) })),
    redirectAllRequestsTo: s.optional(s.object({ hostName: s.string({ doc: 'Where to.' }), protocol })),
    routingRules: s.optional(
      s.list(
        s.object({
          condition: s.optional(
            s.object({
              httpErrorCodeReturnedEquals: text('For answers with this status.'),
              keyPrefixEquals: text('For keys that begin so.'),
            }),
          ),
          redirect: s.object({
            hostName: text('Where to.'),
            httpRedirectCode: text('With which status.'),
            protocol,
            replaceKeyPrefixWith: text('With this instead of the beginning.'),
            replaceKeyWith: text('With this key.'),
          }),
        }),
        { doc: 'Where requests are sent on to.' },
      ),
    ),
  },
  { doc: 'Serve objects as a website.' },
)

const objectLockConfiguration = s.object(
  {
    objectLockEnabled: s.string({ doc: 'Whether objects can be locked.', enum: ['Enabled'] }),
    rule: s.optional(
      s.object({
        defaultRetention: s.object({
          mode: s.string({ doc: 'Whether anybody may unlock them.', enum: ['GOVERNANCE', 'COMPLIANCE'] }),
          days: number('For how many days.'),
          years: number('For how many years.'),
          defaultEventHold: s.optional(
            s.object(
              { days: number('For how many days.'), years: number('For how many years.') },
              { doc: 'How long objects stay locked after an event hold ends.' },
            ),
          ),
        }),
      }),
    ),
  },
  { doc: 'Objects that cannot be changed or deleted for a while. Cannot be turned off.' },
)

const target = {
  id: text('Name of the configuration. AWS makes one up when absent.'),
  events: strings('Which events, such as s3:ObjectCreated:*.'),
  filter: s.optional(
    s.object({
      key: s.object({
        filterRules: s.list(
          s.object({
            name: s.string({ doc: 'Which end of the key.', enum: ['prefix', 'suffix'] }),
            value: s.string({ doc: 'What it is.' }),
          }),
          { doc: 'All must fit.' },
        ),
      }),
    }),
  ),
}

const notificationConfiguration = s.object(
  {
    topicConfigurations: s.optional(
      s.list(s.object({ topicArn: s.string({ doc: 'The SNS topic.' }), ...target }), { set: true, doc: 'To topics.' }),
    ),
    queueConfigurations: s.optional(
      s.list(s.object({ queueArn: s.string({ doc: 'The SQS queue.' }), ...target }), { set: true, doc: 'To queues.' }),
    ),
    lambdaFunctionConfigurations: s.optional(
      s.list(s.object({ lambdaFunctionArn: s.string({ doc: 'The Lambda function.' }), ...target }), {
        set: true,
        doc: 'To functions.',
      }),
    ),
    eventBridgeConfiguration: s.optional(s.json({ doc: 'To EventBridge, all events: {} turns it on.' })),
  },
  { doc: 'Who is told of changes.' },
)

/** The `spec.forProvider` fields of a Bucket. */
export const parameters = s.object({
  region: region(),
  acl: s.optional(
    s.string({
      doc: 'A canned ACL. Means nothing where the bucket owner is enforced as owner of all objects.',
      enum: ['private', 'public-read', 'public-read-write', 'authenticated-read'],
      lateInitialize: false,
    }),
  ),
  objectLockEnabledForBucket: s.optional(
    s.boolean({ doc: 'Have versions and object lock from the beginning.', immutable: true, unreported: true }),
  ),
  objectOwnership: s.optional(
    s.string({
      doc: 'Who owns objects from the beginning; later ownershipControls says so.',
      enum: ['BucketOwnerPreferred', 'ObjectWriter', 'BucketOwnerEnforced'],
      immutable: true,
      unreported: true,
    }),
  ),
  versioningConfiguration: s.optional(versioningConfiguration),
  serverSideEncryptionConfiguration: s.optional(serverSideEncryptionConfiguration),
  publicAccessBlockConfiguration: s.optional(publicAccessBlockConfiguration),
  ownershipControls: s.optional(ownershipControls),
  lifecycleConfiguration: s.optional(lifecycleConfiguration),
  corsConfiguration: s.optional(corsConfiguration),
  policy: s.optional(policyDocument('Who may do what, as a policy in JSON. Empty: none.', { lateInitialize: false })),
  bucketLoggingStatus: s.optional(bucketLoggingStatus),
  websiteConfiguration: s.optional(websiteConfiguration),
  objectLockConfiguration: s.optional(objectLockConfiguration),
  accelerateConfiguration: s.optional(
    s.object(
      { status: s.string({ doc: 'Whether edge locations are used.', enum: ['Enabled', 'Suspended'] }) },
      { doc: 'Transfer by way of edge locations.' },
    ),
  ),
  requestPaymentConfiguration: s.optional(
    s.object(
      { payer: s.string({ doc: 'Who pays.', enum: ['Requester', 'BucketOwner'] }) },
      { doc: 'Who pays for it.' },
    ),
  ),
  notificationConfiguration: s.optional(notificationConfiguration),
  tags: tags(),
})

/** The `status.atProvider` fields of a Bucket. */
export const observation = s.object({
  arn: s.string({ doc: 'Its ARN.' }),
  bucketRegion: s.string({ doc: 'The region that it is in.' }),
  ownerId: s.string({ doc: 'Canonical id of the account that it belongs to.' }),
  bucketDomainName: s.string({ doc: 'Host name that it is reached at.' }),
})
