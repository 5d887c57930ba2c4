import { defineProvider } from '@crosstie/resources/provider'
import { startEmbedded } from './embedded/start.js'

export const provider = defineProvider({
  name: 'sql',
  summary: 'PostgreSQL: databases, roles, grants, schemas and extensions.',
  kinds: [],
  start: startEmbedded,
})
