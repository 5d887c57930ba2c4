import {
  AccelerateConfiguration$,
  type BucketLifecycleConfiguration,
  BucketLoggingStatus$,
  CORSConfiguration$,
  DeleteBucketCorsCommand,
  DeleteBucketEncryptionCommand,
  DeleteBucketLifecycleCommand,
  DeleteBucketOwnershipControlsCommand,
  DeleteBucketPolicyCommand,
  GetBucketAccelerateConfigurationCommand,
  GetBucketCorsCommand,
  GetBucketEncryptionCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketLifecycleConfigurationOutput$,
  GetBucketLoggingCommand,
  GetBucketNotificationConfigurationCommand,
  GetBucketOwnershipControlsCommand,
  GetBucketPolicyCommand,
  GetBucketRequestPaymentCommand,
  GetBucketVersioningCommand,
  GetBucketWebsiteCommand,
  GetObjectLockConfigurationCommand,
  GetPublicAccessBlockCommand,
  NotificationConfiguration$,
  ObjectLockConfiguration$,
  OwnershipControls$,
  PublicAccessBlockConfiguration$,
  PutBucketAccelerateConfigurationCommand,
  PutBucketCorsCommand,
  PutBucketEncryptionCommand,
  PutBucketLifecycleConfigurationCommand,
  type PutBucketLifecycleConfigurationRequest,
  PutBucketLoggingCommand,
  PutBucketNotificationConfigurationCommand,
  PutBucketOwnershipControlsCommand,
  PutBucketPolicyCommand,
  PutBucketRequestPaymentCommand,
  PutBucketVersioningCommand,
  PutBucketWebsiteCommand,
  PutObjectLockConfigurationCommand,
  PutPublicAccessBlockCommand,
  RequestPaymentConfiguration$,
  type S3Client,
  ServerSideEncryptionConfiguration$,
  VersioningConfiguration$,
  WebsiteConfiguration$,
} from '@aws-sdk/client-s3'
import { unless } from '../errors.js'
import { fromApi, type Shape, toApi } from '../shapes.js'

/** A part of the configuration of a bucket, which has its own calls. */
interface Part {
  /** Reads the part in the format of the API. */
  get(to: Reach): Promise<object | string | undefined>
  put(to: Reach, value: never): Promise<unknown>
  /** For parts that a separate call removes: `when` reports whether the value is empty. */
  readonly remove?: { readonly when: (value: never) => boolean; call(to: Reach): Promise<unknown> }
  /** The shape of the fields. Absent for a string. */
  readonly shape?: Shape
}

interface Reach {
  readonly s3: S3Client
  readonly Bucket: string
  readonly options: { readonly abortSignal: AbortSignal }
}

type Lifecycle = BucketLifecycleConfiguration &
  Pick<PutBucketLifecycleConfigurationRequest, 'TransitionDefaultMinimumObjectSize'>

const noRules = ({ Rules }: { readonly Rules?: readonly unknown[] }) => !Rules || Rules.length === 0

/** The parts, in the order of writes: a part comes after those that it depends on. */
const parts = {
  versioningConfiguration: {
    shape: VersioningConfiguration$,
    get: async ({ s3, Bucket, options }) => {
      const { Status } = await s3.send(new GetBucketVersioningCommand({ Bucket }), options)
      return Status && { Status }
    },
    put: ({ s3, Bucket, options }, VersioningConfiguration) =>
      s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration }), options),
  },
  ownershipControls: {
    shape: OwnershipControls$,
    get: async ({ s3, Bucket, options }) =>
      (await s3.send(new GetBucketOwnershipControlsCommand({ Bucket }), options)).OwnershipControls,
    put: ({ s3, Bucket, options }, OwnershipControls) =>
      s3.send(new PutBucketOwnershipControlsCommand({ Bucket, OwnershipControls }), options),
    remove: {
      when: noRules,
      call: ({ s3, Bucket, options }) => s3.send(new DeleteBucketOwnershipControlsCommand({ Bucket }), options),
    },
  },
  publicAccessBlockConfiguration: {
    shape: PublicAccessBlockConfiguration$,
    get: async ({ s3, Bucket, options }) =>
      (await s3.send(new GetPublicAccessBlockCommand({ Bucket }), options)).PublicAccessBlockConfiguration,
    put: ({ s3, Bucket, options }, PublicAccessBlockConfiguration) =>
      s3.send(new PutPublicAccessBlockCommand({ Bucket, PublicAccessBlockConfiguration }), options),
  },
  serverSideEncryptionConfiguration: {
    shape: ServerSideEncryptionConfiguration$,
    get: async ({ s3, Bucket, options }) =>
      (await s3.send(new GetBucketEncryptionCommand({ Bucket }), options)).ServerSideEncryptionConfiguration,
    put: ({ s3, Bucket, options }, ServerSideEncryptionConfiguration) =>
      s3.send(new PutBucketEncryptionCommand({ Bucket, ServerSideEncryptionConfiguration }), options),
    remove: {
      when: noRules,
      call: ({ s3, Bucket, options }) => s3.send(new DeleteBucketEncryptionCommand({ Bucket }), options),
    },
  },
  objectLockConfiguration: {
    shape: ObjectLockConfiguration$,
    get: async ({ s3, Bucket, options }) =>
      (await s3.send(new GetObjectLockConfigurationCommand({ Bucket }), options)).ObjectLockConfiguration,
    put: ({ s3, Bucket, options }, ObjectLockConfiguration) =>
      s3.send(new PutObjectLockConfigurationCommand({ Bucket, ObjectLockConfiguration }), options),
  },
  lifecycleConfiguration: {
    shape: GetBucketLifecycleConfigurationOutput$,
    get: async ({ s3, Bucket, options }) => {
      const told = await s3.send(new GetBucketLifecycleConfigurationCommand({ Bucket }), options)
      const { Rules, TransitionDefaultMinimumObjectSize } = told
      return Rules && { Rules, TransitionDefaultMinimumObjectSize }
    },
    put: ({ s3, Bucket, options }, value: Lifecycle) => {
      const { TransitionDefaultMinimumObjectSize, ...given } = value
      const LifecycleConfiguration = withDates(given) as never
      const request = { Bucket, LifecycleConfiguration, TransitionDefaultMinimumObjectSize }
      return s3.send(new PutBucketLifecycleConfigurationCommand(request), options)
    },
    remove: {
      when: noRules,
      call: ({ s3, Bucket, options }) => s3.send(new DeleteBucketLifecycleCommand({ Bucket }), options),
    },
  },
  corsConfiguration: {
    shape: CORSConfiguration$,
    get: async ({ s3, Bucket, options }) => {
      const { CORSRules } = await s3.send(new GetBucketCorsCommand({ Bucket }), options)
      return CORSRules && { CORSRules }
    },
    put: ({ s3, Bucket, options }, CORSConfiguration) =>
      s3.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration }), options),
    remove: {
      when: ({ CORSRules = [] }: { readonly CORSRules?: readonly unknown[] }) => CORSRules.length === 0,
      call: ({ s3, Bucket, options }) => s3.send(new DeleteBucketCorsCommand({ Bucket }), options),
    },
  },
  policy: {
    get: async ({ s3, Bucket, options }) => (await s3.send(new GetBucketPolicyCommand({ Bucket }), options)).Policy,
    put: ({ s3, Bucket, options }, Policy) => s3.send(new PutBucketPolicyCommand({ Bucket, Policy }), options),
    remove: {
      when: (policy: string) => policy === '',
      call: ({ s3, Bucket, options }) => s3.send(new DeleteBucketPolicyCommand({ Bucket }), options),
    },
  },
  bucketLoggingStatus: {
    shape: BucketLoggingStatus$,
    get: async ({ s3, Bucket, options }) => {
      const { LoggingEnabled } = await s3.send(new GetBucketLoggingCommand({ Bucket }), options)
      return LoggingEnabled && { LoggingEnabled }
    },
    put: ({ s3, Bucket, options }, BucketLoggingStatus) =>
      s3.send(new PutBucketLoggingCommand({ Bucket, BucketLoggingStatus }), options),
  },
  websiteConfiguration: {
    shape: WebsiteConfiguration$,
    get: async ({ s3, Bucket, options }) => {
      const { $metadata: _, ...told } = await s3.send(new GetBucketWebsiteCommand({ Bucket }), options)
      return told
    },
    put: ({ s3, Bucket, options }, WebsiteConfiguration) =>
      s3.send(new PutBucketWebsiteCommand({ Bucket, WebsiteConfiguration }), options),
  },
  accelerateConfiguration: {
    shape: AccelerateConfiguration$,
    get: async ({ s3, Bucket, options }) => {
      const { Status } = await s3.send(new GetBucketAccelerateConfigurationCommand({ Bucket }), options)
      return Status && { Status }
    },
    put: ({ s3, Bucket, options }, AccelerateConfiguration) =>
      s3.send(new PutBucketAccelerateConfigurationCommand({ Bucket, AccelerateConfiguration }), options),
  },
  requestPaymentConfiguration: {
    shape: RequestPaymentConfiguration$,
    get: async ({ s3, Bucket, options }) => {
      const { Payer } = await s3.send(new GetBucketRequestPaymentCommand({ Bucket }), options)
      return Payer && { Payer }
    },
    put: ({ s3, Bucket, options }, RequestPaymentConfiguration) =>
      s3.send(new PutBucketRequestPaymentCommand({ Bucket, RequestPaymentConfiguration }), options),
  },
  notificationConfiguration: {
    shape: NotificationConfiguration$,
    get: async ({ s3, Bucket, options }) => {
      const answer = await s3.send(new GetBucketNotificationConfigurationCommand({ Bucket }), options)
      const { $metadata: _, ...told } = answer
      return Object.values(told).some((value) => value !== undefined) ? told : undefined
    },
    put: ({ s3, Bucket, options }, NotificationConfiguration) =>
      s3.send(new PutBucketNotificationConfigurationCommand({ Bucket, NotificationConfiguration }), options),
  },
} satisfies Record<string, Part>

/** The name of a part, which is the name of its field. */
export type PartName = keyof typeof parts
const names = Object.keys(parts) as PartName[]

/** The values of parts by name. */
export type PartValues = { readonly [K in PartName]?: unknown }

/** Reads the configuration of a bucket. Settings that are unset, or that the region does not support, are absent. */
export async function readParts(s3: S3Client, Bucket: string, abortSignal: AbortSignal): Promise<PartValues> {
  const to = { s3, Bucket, options: { abortSignal } }
  const read = async (name: PartName) => {
    const part: Part = parts[name]
    const told = await unless(part.get(to), 'notFound', 'unsupported')
    return [name, part.shape && typeof told === 'object' ? fromApi(part.shape, told) : told]
  }
  return Object.fromEntries(await Promise.all(names.map(read)))
}

/** Writes the given parts, each as a whole. */
export async function writeParts(s3: S3Client, Bucket: string, values: PartValues, abortSignal: AbortSignal) {
  const to = { s3, Bucket, options: { abortSignal } }
  for (const name of names) {
    if (values[name] === undefined) continue
    const part: Part = parts[name]
    const given = values[name]
    const value = (part.shape ? toApi(part.shape, given as object) : given) as never
    await (part.remove?.when(value) ? part.remove.call(to) : part.put(to, value))
  }
}

/** Converts dates: a spec has strings, the SDK expects `Date` objects. */
function withDates(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withDates)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, name === 'Date' ? new Date(inner) : withDates(inner)]),
  )
}
