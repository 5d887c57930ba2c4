import { defineBinding, defineProvider, postgresqlInstance } from '@crosstie/resources/provider'
import { startEmbedded } from './embedded/start.js'
import { database } from './kinds/database.js'
import { extension } from './kinds/extension.js'
import { grantKind as grant } from './kinds/grant.js'
import { role } from './kinds/role.js'
import { schema } from './kinds/schema.js'

export { providerConfig } from './config.js'
export { database, extension, grant, role, schema }

/** The SQL provider. */
export const provider = defineProvider({
  name: 'sql',
  summary: 'PostgreSQL: databases, roles, grants, schemas and extensions.',
  kinds: [database, role, grant, schema, extension],
  bindings: [
    defineBinding({
      claim: postgresqlInstance,
      managed: database,
      // The class takes precedence over the claim.
      configure: ({ asked, forProvider }) => ({ engineVersion: asked['engineVersion'], ...forProvider }),
    }),
    ...[role, grant, schema, extension].map((managed) =>
      defineBinding({ claim: postgresqlInstance, managed, role: 'supporting' }),
    ),
  ],
  start: startEmbedded,
})
