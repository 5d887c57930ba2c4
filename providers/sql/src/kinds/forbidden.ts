import type { Target } from '../server/target.js'

/** Names that PostgreSQL or the control plane needs. Claims may not use them. */

const databases = new Set(['postgres', 'template0', 'template1'])

/** Returns the reason why a claim may not use a name for its database, or undefined if it may. */
export function forbiddenDatabase(name: string, { database }: Pick<Target, 'database'>): string | undefined {
  if (databases.has(name)) return `every PostgreSQL server has a database ${JSON.stringify(name)} for its own use`
  return name === database ? 'it is the default database of the ProviderConfig' : undefined
}

const roles = new Set(['postgres', 'public', 'none'])

/** Returns the reason why a claim may not use a name for its role, or undefined if it may. */
export function forbiddenRole(name: string, { user }: Pick<Target, 'user'>): string | undefined {
  if (name === user) return 'the control plane logs in with this role'
  if (roles.has(name)) return `PostgreSQL uses ${JSON.stringify(name)} itself`
  return systemName(name)
}

/** Returns the reason why a claim may not use a name for its schema, or undefined if it may. */
export function forbiddenSchema(name: string): string | undefined {
  return name === 'information_schema' ? 'PostgreSQL keeps its catalog there' : systemName(name)
}

const systemName = (name: string): string | undefined =>
  name.startsWith('pg_') ? 'PostgreSQL reserves names that begin with "pg_"' : undefined
