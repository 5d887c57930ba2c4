import type { ResourceType } from '@crosstie/kube'

/** The API group of the kinds. */
export const group = 'postgresql.sql.crossplane.io'
/** The API version of the kinds. */
export const version = 'v1alpha1'

const typeOf = (kind: string, resource: string): ResourceType => ({
  group,
  version,
  kind,
  resource,
  namespaced: false,
})

/** The types of the kinds, for references among them. */
export const types = {
  role: typeOf('Role', 'roles'),
  database: typeOf('Database', 'databases'),
  schema: typeOf('Schema', 'schemas'),
}
