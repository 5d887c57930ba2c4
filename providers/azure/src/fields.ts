import { s } from '@crosstie/resources/provider'
import { types } from './types.js'

/** Fields that several kinds share. */

const short = (location: string): string => location.replaceAll(' ', '').toLowerCase()

/** `West US 2` and `westus2` are the same region. */
export const location = () =>
  s.string({
    doc: 'The region, such as westeurope or West Europe.',
    immutable: true,
    same: (a, b) => short(a) === short(b),
  })

export const tags = () =>
  s.optional(s.map(s.string(), { shared: true, doc: 'Tags. Tags that are not named here are left alone.' }))

/** Azure writes ids in upper and lower case, and means the same. */
export const sameId = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

export const resourceGroupName = () =>
  s.reference(s.identifier(s.string({ doc: 'Name of the resource group.', immutable: true })), {
    to: () => types.resourceGroup,
  })

/** The id of a resource in a field, filled from another object. */
export const resourceId = (doc: string, more: { readonly immutable?: boolean } = {}) =>
  s.string({ doc, same: sameId, ...more })

export const text = (doc: string) => s.optional(s.string({ doc }))
export const flag = (doc: string) => s.optional(s.boolean({ doc }))
export const count = (doc: string) => s.optional(s.integer({ doc }))
export const choice = <const E extends string>(doc: string, values: readonly E[]) =>
  s.optional(s.string({ doc, enum: values }))
export const subResource = (doc: string) =>
  s.optional(s.object({ id: s.string({ doc: 'Id of the resource.', same: sameId }) }, { doc }))

export const identity = (doc = 'The managed identities of the resource.') =>
  s.optional(
    s.object(
      {
        type: s.string({ doc: 'SystemAssigned, UserAssigned, both with a comma between, or None.' }),
        userAssignedIdentities: s.optional(
          s.map(s.json(), {
            doc: 'User-assigned identities, by id. The values are empty objects.',
            lateInitialize: false,
            same: (a, b) => keys(a) === keys(b),
          }),
        ),
      },
      { doc, lateInitialize: false },
    ),
  )

const keys = (value: unknown): string =>
  Object.keys(value ?? {})
    .sort()
    .join(' ')
    .toLowerCase()

/** The work of Azure on the resource that is not complete. A restarted process goes on waiting for it. */
export const operation = () =>
  s.object(
    {
      verb: s.string({ doc: 'create, update or delete.' }),
      url: s.string({ doc: 'Where Azure reports on it.' }),
    },
    { doc: 'The operation of Azure that is in progress. Absent when Azure is done.' },
  )
