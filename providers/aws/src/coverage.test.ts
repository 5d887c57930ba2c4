import {
  AssociateRouteTableRequest$,
  AuthorizeSecurityGroupEgressRequest$,
  AuthorizeSecurityGroupIngressRequest$,
  CreateInternetGatewayRequest$,
  CreateRouteRequest$,
  CreateRouteTableRequest$,
  CreateSecurityGroupRequest$,
  CreateSubnetRequest$,
  CreateVpcRequest$,
  IpPermission$,
  ModifySubnetAttributeRequest$,
  ModifyVpcAttributeRequest$,
} from '@aws-sdk/client-ec2'
import { CreateRoleRequest$, UpdateRoleRequest$ } from '@aws-sdk/client-iam'
import {
  AccelerateConfiguration$,
  BucketLifecycleConfiguration$,
  BucketLoggingStatus$,
  CORSConfiguration$,
  CreateBucketRequest$,
  NotificationConfiguration$,
  ObjectLockConfiguration$,
  OwnershipControls$,
  PublicAccessBlockConfiguration$,
  RequestPaymentConfiguration$,
  ServerSideEncryptionConfiguration$,
  VersioningConfiguration$,
  WebsiteConfiguration$,
} from '@aws-sdk/client-s3'
import { internetGateway } from './ec2/internetgateway.js'
import { routeTable } from './ec2/routetable.js'
import { securityGroup } from './ec2/securitygroup.js'
import { subnet } from './ec2/subnet.js'
import { vpc } from './ec2/vpc.js'
import { role } from './iam/role.js'
import { bucket } from './s3/bucket.js'
import { coversInputs } from './testing/coverage.js'

const made = {
  dryRun: 'asks whether it would work: `crosstie plan` does that without AWS',
  tagSpecifications: 'made from tags',
}
const named = { dryRun: made.dryRun }

coversInputs(vpc, {
  CreateVpc: {
    input: CreateVpcRequest$,
    leftOut: {
      ...made,
      vpcEncryptionControl: 'a resource of its own, with an id and states, changed by calls of its own',
    },
  },
  ModifyVpcAttribute: { input: ModifyVpcAttributeRequest$, leftOut: { vpcId: 'the external name' } },
})

coversInputs(subnet, {
  CreateSubnet: { input: CreateSubnetRequest$, leftOut: made },
  ModifySubnetAttribute: {
    input: ModifySubnetAttributeRequest$,
    leftOut: {
      subnetId: 'the external name',
      disableLniAtDeviceIndex: 'turns off what enableLniAtDeviceIndex sets; Outposts take it only with a new subnet',
    },
  },
})

coversInputs(internetGateway, { CreateInternetGateway: { input: CreateInternetGatewayRequest$, leftOut: made } })

coversInputs(routeTable, {
  CreateRouteTable: {
    input: CreateRouteTableRequest$,
    leftOut: { ...made, clientToken: 'made from the object, so that a repeated create makes nothing twice' },
  },
  CreateRoute: {
    input: CreateRouteRequest$,
    at: 'routes',
    leftOut: { routeTableId: 'the external name', ...named },
  },
  AssociateRouteTable: {
    input: AssociateRouteTableRequest$,
    leftOut: {
      routeTableId: 'the external name',
      publicIpv4Pool: 'routes to pools of own addresses are not part of a VPC',
      ...named,
    },
    otherwise: { subnetId: 'subnetIds', gatewayId: 'gatewayIds' },
  },
})

const older = 'the older way to state one rule: ingress and egress have it as a list'
const ofRules = {
  ...made,
  cidrIp: older,
  fromPort: older,
  toPort: older,
  ipProtocol: older,
  sourceSecurityGroupName: older,
  sourceSecurityGroupOwnerId: older,
  groupId: 'the external name',
  'ipPermissions.userIdGroupPairs.peeringStatus': 'told, not set',
}

coversInputs(securityGroup, {
  CreateSecurityGroup: { input: CreateSecurityGroupRequest$, leftOut: made },
  AuthorizeSecurityGroupIngress: {
    input: AuthorizeSecurityGroupIngressRequest$,
    leftOut: ofRules,
    otherwise: { ipPermissions: 'ingress' },
  },
  AuthorizeSecurityGroupEgress: {
    input: AuthorizeSecurityGroupEgressRequest$,
    leftOut: ofRules,
    otherwise: { ipPermissions: 'egress' },
  },
  IpPermission: {
    input: IpPermission$,
    at: 'egress',
    leftOut: { 'userIdGroupPairs.peeringStatus': 'told, not set' },
  },
})

coversInputs(role, {
  CreateRole: {
    input: CreateRoleRequest$,
    leftOut: { roleName: 'the external name', tags: 'a map here, a list there' },
  },
  UpdateRole: { input: UpdateRoleRequest$, leftOut: { roleName: 'the external name' } },
})

const directory = 'of directory buckets, which are another kind of thing with other calls'

coversInputs(bucket, {
  CreateBucket: {
    input: CreateBucketRequest$,
    leftOut: {
      bucket: 'the external name',
      bucketNamespace: 'part of the name',
      'createBucketConfiguration.location': directory,
      'createBucketConfiguration.bucket': directory,
      'createBucketConfiguration.locationConstraint': 'the region',
      'createBucketConfiguration.tags': 'told by PutBucketTagging, which any endpoint has',
      createBucketConfiguration: 'the region, and what directory buckets have',
      grantFullControl: 'ACLs by grantee are for buckets from before 2023: write a policy',
      grantRead: 'as grantFullControl',
      grantReadACP: 'as grantFullControl',
      grantWrite: 'as grantFullControl',
      grantWriteACP: 'as grantFullControl',
    },
  },
  PutBucketVersioning: {
    input: VersioningConfiguration$,
    at: 'versioningConfiguration',
    leftOut: { mfaDelete: 'can only be set by the root user with a second factor in hand' },
  },
  PutBucketEncryption: { input: ServerSideEncryptionConfiguration$, at: 'serverSideEncryptionConfiguration' },
  PutPublicAccessBlock: { input: PublicAccessBlockConfiguration$, at: 'publicAccessBlockConfiguration' },
  PutBucketOwnershipControls: { input: OwnershipControls$, at: 'ownershipControls' },
  PutBucketLifecycleConfiguration: {
    input: BucketLifecycleConfiguration$,
    at: 'lifecycleConfiguration',
    leftOut: { 'rules.prefix': 'deprecated: filter.prefix' },
  },
  PutBucketCors: { input: CORSConfiguration$, at: 'corsConfiguration' },
  PutBucketLogging: {
    input: BucketLoggingStatus$,
    at: 'bucketLoggingStatus',
    leftOut: {
      'loggingEnabled.targetGrants.grantee.displayName': 'no longer told by AWS, and never set',
      'loggingEnabled.targetObjectKeyFormat.simplePrefix': 'what it is without targetObjectKeyFormat',
    },
  },
  PutBucketWebsite: { input: WebsiteConfiguration$, at: 'websiteConfiguration' },
  PutObjectLockConfiguration: { input: ObjectLockConfiguration$, at: 'objectLockConfiguration' },
  PutBucketAccelerateConfiguration: { input: AccelerateConfiguration$, at: 'accelerateConfiguration' },
  PutBucketRequestPayment: { input: RequestPaymentConfiguration$, at: 'requestPaymentConfiguration' },
  PutBucketNotificationConfiguration: { input: NotificationConfiguration$, at: 'notificationConfiguration' },
})
