import type { ResourceType } from '@crosstie/kube'

export const group = 'postgresql.sql.crossplane.io'
export const version = 'v1alpha1'

const typeOf = (kind: string, resource: string): ResourceType => ({
  group,
  version,
  kind,
  resource,
  namespaced: false,
})

/** What kinds refer to each other by, in any order. */
export const types = {
  role: typeOf('Role', 'roles'),
  database: typeOf('Database', 'databases'),
  schema: typeOf('Schema', 'schemas'),
}
