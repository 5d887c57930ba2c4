/** A call to the AWS API. */
export interface AwsCall {
  /** The service prefix of IAM actions: `ec2`, `s3`. */
  readonly service: string
  /** The name of the API operation: `DescribeVpcs`. */
  readonly operation: string
  readonly region: string
}

/** Operations whose IAM action has a different name. */
const otherwise: Readonly<Record<string, string>> = {
  's3:HeadBucket': 's3:ListBucket',
  's3:ListBuckets': 's3:ListAllMyBuckets',
  's3:GetBucketEncryption': 's3:GetEncryptionConfiguration',
  's3:PutBucketEncryption': 's3:PutEncryptionConfiguration',
  's3:DeleteBucketEncryption': 's3:PutEncryptionConfiguration',
  's3:GetPublicAccessBlock': 's3:GetBucketPublicAccessBlock',
  's3:PutPublicAccessBlock': 's3:PutBucketPublicAccessBlock',
  's3:DeletePublicAccessBlock': 's3:PutBucketPublicAccessBlock',
  's3:GetBucketLifecycleConfiguration': 's3:GetLifecycleConfiguration',
  's3:PutBucketLifecycleConfiguration': 's3:PutLifecycleConfiguration',
  's3:DeleteBucketLifecycle': 's3:PutLifecycleConfiguration',
  's3:GetBucketCors': 's3:GetBucketCORS',
  's3:PutBucketCors': 's3:PutBucketCORS',
  's3:DeleteBucketCors': 's3:PutBucketCORS',
  's3:DeleteBucketTagging': 's3:PutBucketTagging',
  's3:DeleteBucketOwnershipControls': 's3:PutBucketOwnershipControls',
  's3:GetBucketNotificationConfiguration': 's3:GetBucketNotification',
  's3:PutBucketNotificationConfiguration': 's3:PutBucketNotification',
  's3:GetObjectLockConfiguration': 's3:GetBucketObjectLockConfiguration',
  's3:PutObjectLockConfiguration': 's3:PutBucketObjectLockConfiguration',
  's3:GetBucketAccelerateConfiguration': 's3:GetAccelerateConfiguration',
  's3:PutBucketAccelerateConfiguration': 's3:PutAccelerateConfiguration',
  's3:GetBucketReplication': 's3:GetReplicationConfiguration',
  's3:PutBucketReplication': 's3:PutReplicationConfiguration',
  's3:DeleteBucketReplication': 's3:PutReplicationConfiguration',
}

/** Returns the IAM action of a call. */
export function actionOf({ service, operation }: Pick<AwsCall, 'service' | 'operation'>): string {
  const action = `${service}:${operation}`
  return otherwise[action] ?? action
}

/** Reports whether the call is read-only. Such a call can be retried, and a lost response leaves no uncertainty. */
export const isRead = ({ operation }: Pick<AwsCall, 'operation'>): boolean =>
  /^(Describe|Get|List|Head)/.test(operation)
