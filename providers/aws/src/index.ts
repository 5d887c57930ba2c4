import { defineProvider } from '@crosstie/resources/provider'
import { vpc } from './ec2/vpc.js'

export const provider = defineProvider({
  name: 'aws',
  summary: 'Networks, clusters, databases, tables, roles and buckets of AWS.',
  kinds: [vpc],
})
