import { defineProvider } from '@crosstie/resources/provider'
import { internetGateway } from './ec2/internetgateway.js'
import { routeTable } from './ec2/routetable.js'
import { securityGroup } from './ec2/securitygroup.js'
import { subnet } from './ec2/subnet.js'
import { vpc } from './ec2/vpc.js'

export const provider = defineProvider({
  name: 'aws',
  summary: 'Networks, clusters, databases, tables, roles and buckets of AWS.',
  kinds: [vpc, subnet, securityGroup, internetGateway, routeTable],
})
