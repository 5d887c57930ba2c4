import {
  absent,
  type Binding,
  bucket,
  defineBinding,
  defineManaged,
  defineProvider,
  type ExternalCall,
  kubernetesCluster,
  mysqlInstance,
  postgresqlInstance,
  present,
  redisCluster,
  s,
} from '@crosstie/resources/provider'

const parameters = s.object({
  size: s.optional(s.integer({ doc: 'Any number.' })),
  fields: s.optional(s.map(s.string(), { doc: 'Anything at all.' })),
})

const observation = s.object({
  id: s.string({ doc: 'The id it was given.' }),
})

type NopCall = ExternalCall<{ size?: number; fields?: Readonly<Record<string, string>> }, null>

/** It is whatever is asked of it, as soon as it is asked. */
const observed = ({ externalName, forProvider }: NopCall) =>
  present({ ready: true, atProvider: { id: externalName, ...forProvider } })

/**
 * A resource that does nothing and is nowhere: there from when its object has
 * an external name until the object is deleted. To try things out, and to
 * measure what the control plane itself costs.
 */
export const nopResource = defineManaged({
  group: 'nop.crossplane.io',
  version: 'v1alpha1',
  kind: 'NopResource',
  doc: 'A resource that does nothing.',
  categories: ['crossplane', 'managed', 'nop'],
  parameters,
  observation,
  naming: 'user-chosen',
  idempotentCreate: true,

  connect: ({ trackChanges }) => {
    trackChanges()
    return null
  },

  async observe(call) {
    const { metadata } = call.managed
    const made = metadata.annotations?.['crossplane.io/external-name'] && !metadata.deletionTimestamp
    return made ? observed(call) : absent
  },

  async create(call) {
    return { observed: observed(call) }
  },

  async update() {},

  async delete() {},
})

/** It meets every kind of claim, as it is whatever is asked of it. */
export const nopBindings: readonly Binding[] = [
  mysqlInstance,
  postgresqlInstance,
  kubernetesCluster,
  redisCluster,
  bucket,
].map((claim) => defineBinding({ claim, managed: nopResource }))

export const provider = defineProvider({
  name: 'nop',
  summary: 'Resources that do nothing, to try things out with.',
  kinds: [nopResource],
  bindings: nopBindings,
})
