import { type KubeObject, since } from '@crosstie/kube'
import type { Column } from '../definitions/definition.js'

export { nameColumn } from '../definitions/columns.js'

/** The age of the object. */
export const ageColumn: Column = {
  name: 'Age',
  type: 'string',
  description: 'The time since the object was created.',
  cell: ({ metadata }, now) => since(metadata.creationTimestamp, now),
}

/** The column of kinds that define no columns. */
export const createdAtColumn: Column = {
  name: 'Created At',
  type: 'date',
  description: 'When the object was created.',
  cell: ({ metadata }) => metadata.creationTimestamp ?? '<unknown>',
}

/** Defines a column with a computed cell. */
export function column(
  name: string,
  type: 'string' | 'integer',
  description: string,
  cell: (object: KubeObject, now: number) => unknown,
  priority = 0,
): Column {
  return { name, type, description, cell, priority }
}
