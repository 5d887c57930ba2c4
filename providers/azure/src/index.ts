import { defineProvider } from '@crosstie/resources/provider'

export const provider = defineProvider({
  name: 'azure',
  summary: 'Networks, databases, caches and groups of Azure.',
  kinds: [],
})
