import { defineProvider } from '@crosstie/resources/provider'
import { autoScalingGroup } from './autoscaling/group.js'
import { launchConfiguration } from './autoscaling/launchconfiguration.js'
import { table } from './dynamodb/table.js'
import { internetGateway } from './ec2/internetgateway.js'
import { routeTable } from './ec2/routetable.js'
import { securityGroup } from './ec2/securitygroup.js'
import { subnet } from './ec2/subnet.js'
import { vpc } from './ec2/vpc.js'
import { clusterBindings } from './eks/claims.js'
import { cluster } from './eks/cluster.js'
import { nodeGroup } from './eks/nodegroup.js'
import { role } from './iam/role.js'
import { databaseBindings } from './rds/claims.js'
import { dbInstance } from './rds/dbinstance.js'
import { dbSubnetGroup } from './rds/dbsubnetgroup.js'
import { bucket } from './s3/bucket.js'
import { bucketBinding } from './s3/claim.js'
import { start } from './start.js'

/** The AWS provider. */
export const provider = defineProvider({
  name: 'aws',
  summary: 'Networks, clusters, databases, tables, roles and buckets of AWS.',
  kinds: [
    vpc,
    subnet,
    securityGroup,
    internetGateway,
    routeTable,
    role,
    bucket,
    launchConfiguration,
    autoScalingGroup,
    table,
    cluster,
    nodeGroup,
    dbSubnetGroup,
    dbInstance,
  ],
  bindings: [bucketBinding, ...databaseBindings, ...clusterBindings],
  start,
})
