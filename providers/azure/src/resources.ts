import { s } from '@crosstie/resources/provider'
import { defineArmKind } from './arm-kind.js'
import { location, operation, tags, text } from './fields.js'

export const resourceGroup = defineArmKind({
  service: 'resources',
  kind: 'ResourceGroup',
  doc: 'A group of resources that are deleted together.',
  type: 'Microsoft.Resources/resourceGroups',
  apiVersion: '2021-04-01',
  parameters: s.object({
    location: location(),
    managedBy: text('Id of the resource that manages this group.'),
    tags: tags(),
  }),
  observation: s.object({
    id: s.string({ doc: 'Id of the group.' }),
    provisioningState: s.string({ doc: 'Such as Succeeded or Deleting.' }),
    operation: operation(),
  }),
  layout: ['location', 'managedBy', 'tags'],
  hasTags: true,
})
