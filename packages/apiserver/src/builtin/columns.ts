import { type KubeObject, since } from '@crosstie/kube'
import type { Column } from '../definitions/definition.js'

export { nameColumn } from '../definitions/columns.js'

export const ageColumn: Column = {
  name: 'Age',
  type: 'string',
  description: 'How long ago the object was created.',
  cell: ({ metadata }, now) => since(metadata.creationTimestamp, now),
}

/** Kinds without columns of their own show when they were made. */
export const createdAtColumn: Column = {
  name: 'Created At',
  type: 'date',
  description: 'When the object was created.',
  cell: ({ metadata }) => metadata.creationTimestamp ?? '<unknown>',
}

export function column(
  name: string,
  type: 'string' | 'integer',
  description: string,
  cell: (object: KubeObject, now: number) => unknown,
  priority = 0,
): Column {
  return { name, type, description, cell, priority }
}
