import { defineProvider } from '@crosstie/resources/provider'
import { startEmbedded } from './embedded/start.js'
import { database } from './kinds/database.js'
import { extension } from './kinds/extension.js'
import { role } from './kinds/role.js'
import { schema } from './kinds/schema.js'

export { providerConfig } from './config.js'
export { database, extension, role, schema }

export const provider = defineProvider({
  name: 'sql',
  summary: 'PostgreSQL: databases, roles, grants, schemas and extensions.',
  kinds: [database, role, schema, extension],
  start: startEmbedded,
})
