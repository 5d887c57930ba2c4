import { absent, defineManaged, defineProvider, present, s } from '@crosstie/resources/provider'

/** A kind whose first version has a number where the second version has an object. */
export function diskOf() {
  const disks = new Map<string, { gigabytes: number; fast: boolean }>()
  const kind = defineManaged({
    group: 'versions.crosstie.io',
    version: 'v1beta1',
    kind: 'Disk',
    parameters: s.object({
      zone: s.identifier(s.string()),
      capacity: s.object({ gigabytes: s.integer(), fast: s.optional(s.boolean()) }),
    }),
    observation: s.object({}),
    versions: [
      {
        version: 'v1alpha1',
        parameters: s.object({
          zone: s.identifier(s.string()),
          sizeGb: s.integer(),
          fast: s.optional(s.boolean()),
        }),
        toCurrent: ({ sizeGb, fast, ...rest }) => ({
          ...rest,
          ...(sizeGb === undefined && fast === undefined
            ? {}
            : {
                capacity: {
                  ...(sizeGb === undefined ? {} : { gigabytes: sizeGb }),
                  ...(fast === undefined ? {} : { fast }),
                },
              }),
        }),
        fromCurrent: ({ capacity, ...rest }) => {
          const { gigabytes, fast } = (capacity ?? {}) as { gigabytes?: number; fast?: boolean }
          return {
            ...rest,
            ...(gigabytes === undefined ? {} : { sizeGb: gigabytes }),
            ...(fast === undefined ? {} : { fast }),
          }
        },
      },
    ],
    naming: 'user-chosen',
    consistencySeconds: 0,
    connect: () => disks,
    async observe({ client, externalName, forProvider }) {
      const capacity = client.get(externalName)
      return capacity ? present({ ready: true, atProvider: { zone: forProvider.zone, capacity } }) : absent
    },
    async create({ client, externalName, forProvider }) {
      client.set(externalName, { fast: false, ...forProvider.capacity })
      return {}
    },
    async update({ client, externalName, forProvider }) {
      client.set(externalName, { fast: false, ...forProvider.capacity })
    },
    async delete({ client, externalName }) {
      client.delete(externalName)
    },
  })
  return { kind, disks }
}

/** The provider of the disk kind. */
export const provider = defineProvider({
  name: 'disks',
  summary: 'Disks in memory, whose kind has two versions with different fields.',
  kinds: [diskOf().kind],
})
