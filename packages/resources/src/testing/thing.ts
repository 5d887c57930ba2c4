import { absent, present } from '../definition/external.js'
import { defineManaged, type ManagedKind } from '../definition/managed.js'
import type { ProviderConfigKind, ProviderConfiguration } from '../definition/provider-config.js'
import { s } from '../definition/schema.js'
import type { Cloud, CloudResource } from './cloud.js'

const parameters = s.object({
  region: s.identifier(s.string({ doc: 'Where it is.' })),
  flavor: s.string({ doc: 'What it is like.', immutable: true }),
  size: s.optional(s.integer({ doc: 'How large it is. The cloud chooses 3 when it is not told.' })),
  scaling: s.optional(s.object({ min: s.optional(s.integer()), desired: s.optional(s.integer()) })),
  members: s.optional(s.list(s.string(), { set: true })),
  password: s.optional(s.sensitive({ doc: 'Opens it.' })),
  parentId: s.optional(
    s.reference(s.string(), {
      to: () => ({
        group: 'sim.crosstie.io',
        version: 'v1alpha1',
        kind: 'Thing',
        resource: 'things',
        namespaced: false,
      }),
    }),
  ),
  tags: s.optional(s.map(s.string(), { shared: true })),
})

const observation = s.object({
  id: s.string({ doc: 'How the cloud calls it.' }),
  scaling: s.object({ status: s.string() }),
})

/** Returns a kind of the simulated cloud, with the capabilities of the cloud. */
export function thingOf(
  cloud: Cloud,
  more: {
    readonly kind?: string
    readonly consistencySeconds?: number
    readonly providerConfig?: ProviderConfigKind
    /** Called with the ProviderConfig before any other call. */
    readonly connected?: (config: ProviderConfiguration | undefined) => void
  } = {},
): ManagedKind {
  const { naming, tokens, tags, list, consistencySeconds } = cloud.options
  const observed = (resource: CloudResource & { readonly ready?: boolean }) =>
    present({
      externalName: resource.name,
      ready: resource.ready ?? false,
      connection: { endpoint: `https://${resource.name}.example.org` },
      createdAt: new Date(resource.createdAt).toISOString(),
      atProvider: {
        id: resource.name,
        region: resource.region,
        tags: resource.tags,
        ...(resource.values as { flavor?: string; size?: number }),
      },
    })
  return defineManaged({
    group: 'sim.crosstie.io',
    version: 'v1alpha1',
    kind: more.kind ?? 'Thing',
    parameters,
    observation,
    naming: naming,
    token: tokens,
    tags: tags ? { field: 'tags' } : undefined,
    consistencySeconds: more.consistencySeconds ?? (consistencySeconds ?? 0) + 5,
    providerConfig: more.providerConfig,
    connect: ({ config, trackChanges }) => {
      more.connected?.(config)
      return { cloud, changing: trackChanges() }
    },
    async observe({ client: { cloud: client }, externalName, tags: wanted }) {
      if (externalName === '' && !wanted) return absent
      const found = externalName !== '' ? await client.get(externalName) : (await client.list(wanted))[0]
      return found ? observed(found) : absent
    },
    async create({ client: { cloud: client, changing }, externalName, forProvider, token, tags: wanted }) {
      changing()
      const { region, tags: _, password, ...given } = forProvider
      const values = { size: 3, ...given, ...(password ? { opensWith: `hash:${password.length}` } : {}) }
      const made = await client.create({ name: externalName, region, values, tags: wanted, token })
      return { externalName: made.name, connection: password ? { password } : {} }
    },
    async update({ client: { cloud: client, changing }, externalName, changed, removed }) {
      const { tags: wanted, password: _, ...values } = changed
      changing()
      await client.update(externalName, values, wanted as Readonly<Record<string, string>> | undefined, removed['tags'])
    },
    async delete({ client: { cloud: client, changing }, externalName }) {
      changing()
      await client.delete(externalName)
    },
    list: list
      ? async ({ client: { cloud: client }, tags: wanted }) =>
          (await client.list(wanted)).map((resource) => observed(resource))
      : undefined,
  })
}
