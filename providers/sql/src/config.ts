import { defineProviderConfig, s } from '@crosstie/resources/provider'

/** The supported SSL modes, as in libpq. */
export const sslModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const

/**
 * The ProviderConfig of a PostgreSQL server. The credentials are a connection URL
 * (`postgresql://user:password@host:5432/`), or a Secret with the keys endpoint, port, username and password, as in
 * connection Secrets.
 */
export const providerConfig = defineProviderConfig({
  group: 'postgresql.sql.crossplane.io',
  version: 'v1alpha1',
  wholeSecret: true,
  fields: s.object({
    defaultDatabase: s.optional(
      s.string({ doc: 'The database to connect to for what belongs to no database. Default: postgres.', minLength: 1 }),
    ),
    sslMode: s.optional(
      s.string({
        doc: 'Whether to encrypt connections and whom to trust, as libpq has it. Default: prefer.',
        enum: sslModes,
      }),
    ),
  }),
})
