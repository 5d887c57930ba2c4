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

/** Returns the observation: the resource always has the desired state. */
const observed = ({ externalName, forProvider }: NopCall) =>
  present({ ready: true, atProvider: { id: externalName, ...forProvider } })

/**
 * A resource that does nothing. It exists from the time its object has an external name until the object is
 * deleted. Use it to try things out, and to measure the overhead of the control plane.
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

/** Bindings for every kind of claim. */
export const nopBindings: readonly Binding[] = [
  mysqlInstance,
  postgresqlInstance,
  kubernetesCluster,
  redisCluster,
  bucket,
].map((claim) => defineBinding({ claim, managed: nopResource }))

/** The nop provider. */
export const provider = defineProvider({
  name: 'nop',
  summary: 'Resources that do nothing, to try things out with.',
  kinds: [nopResource],
  bindings: nopBindings,
})
