import { type ClaimKind, defineClaim } from './claim.js'
import { s } from './schema.js'

const engineVersion = (doc: string) => s.optional(s.string({ doc, pattern: '^[0-9]+(\\.[0-9]+)*$' }))

/** Returns the connection details of a database as one URI, the form that drivers accept. */
function databaseUri(scheme: string, details: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { endpoint, host = endpoint, port, username, password, database = '' } = details
  if (host === undefined || username === undefined || password === undefined) return {}
  const login = `${encodeURIComponent(username)}:${encodeURIComponent(password)}`
  const address = `${host.includes(':') ? `[${host}]` : host}${port === undefined ? '' : `:${port}`}`
  return { uri: `${scheme}://${login}@${address}/${encodeURIComponent(database)}` }
}

/** A MySQL database server. */
export const mysqlInstance = defineClaim({
  group: 'database.crossplane.io',
  version: 'v1alpha1',
  kind: 'MySQLInstance',
  doc: 'A MySQL database server, whoever runs it.',
  parameters: s.object({ engineVersion: engineVersion('Version of MySQL, such as 5.7.') }),
})

/** A PostgreSQL database server. */
export const postgresqlInstance = defineClaim({
  group: 'database.crossplane.io',
  version: 'v1alpha1',
  kind: 'PostgreSQLInstance',
  doc: 'A PostgreSQL database server, whoever runs it.',
  parameters: s.object({ engineVersion: engineVersion('Version of PostgreSQL, such as 9.6.') }),
  connection: (details) => databaseUri('postgresql', details),
})

/** A Kubernetes cluster. */
export const kubernetesCluster = defineClaim({
  group: 'compute.crossplane.io',
  version: 'v1beta1',
  alsoServed: ['v1alpha1'],
  kind: 'KubernetesCluster',
  doc: 'A Kubernetes cluster, whoever runs it.',
  parameters: s.object({ clusterVersion: engineVersion('Version of Kubernetes, such as 1.34.') }),
})

/** A Redis cluster. */
export const redisCluster = defineClaim({
  group: 'cache.crossplane.io',
  version: 'v1alpha1',
  kind: 'RedisCluster',
  doc: 'A Redis cluster, whoever runs it.',
  parameters: s.object({ engineVersion: engineVersion('Version of Redis, such as 5.0.') }),
})

/** A bucket of an object store. */
export const bucket = defineClaim({
  group: 'storage.crossplane.io',
  version: 'v1alpha1',
  kind: 'Bucket',
  doc: 'A bucket of an object store, whoever runs it.',
  parameters: s.object({
    name: s.optional(s.string({ doc: 'A name that the bucket should have.' })),
    predefinedACL: s.optional(
      s.string({ doc: 'Who may reach it.', enum: ['Private', 'PublicRead', 'PublicReadWrite', 'AuthenticatedRead'] }),
    ),
    localPermission: s.optional(
      s.string({ doc: 'What the application may do.', enum: ['Read', 'Write', 'ReadWrite'] }),
    ),
  }),
})

/** The kinds of claims that every control plane serves. */
export const claimKinds: readonly ClaimKind[] = [
  mysqlInstance,
  postgresqlInstance,
  kubernetesCluster,
  redisCluster,
  bucket,
]
