import type { Column } from './definition.js'

/** The first column of every custom resource and of most built-in kinds. */
export const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'The name, unique among the objects of its kind in the same namespace.',
  cell: ({ metadata }) => metadata.name,
}

/** The column of custom resources that define no columns. */
export const ageColumn: Column = {
  name: 'Age',
  type: 'date',
  description: 'The time since the object was created.',
  jsonPath: '.metadata.creationTimestamp',
}
