import type { Json } from '@crosstie/kube'
import { absent, present } from '../definition/external.js'
import type { External, ManagedKind } from '../definition/managed.js'
import type { Node } from '../definition/schema.js'
import { holdsUnknown, known, UNKNOWN } from './unknown.js'

type Values = Readonly<Record<string, unknown>>

/** Returns the kind with functions that observe the external resource and never change it. */
export function imaginedKind(kind: ManagedKind): ManagedKind {
  const identifiers = Object.entries(kind.parameters.fields ?? {}).filter(([, field]) => field.identifier)
  const only: Pick<External<unknown>, 'connect' | 'observe' | 'create' | 'update' | 'delete'> = {
    // A plan observes once, and its updates send no request.
    connect: (context) => kind.external.connect({ ...context, follow: () => {}, trackChanges: () => () => {} }),
    async observe(call) {
      const { forProvider, externalName } = call as typeof call & { forProvider: Values }
      // A resource cannot exist in a location that does not exist yet.
      if (externalName === UNKNOWN || identifiers.some(([name]) => holdsUnknown(forProvider[name]))) return absent
      const observed = holdsUnknown(forProvider) ? { ...call, forProvider: known(forProvider) as object } : call
      return await kind.external.observe(observed)
    },
    async create({ forProvider }) {
      const atProvider = imaginedStatus(kind, forProvider as Values)
      return {
        ...(kind.naming === 'provider-assigned' ? { externalName: UNKNOWN } : {}),
        observed: present({ atProvider }),
      }
    },
    async update() {},
    async delete() {},
  }
  return { ...kind, external: Object.assign(Object.create(kind.external), only) }
}

/**
 * Returns the status that a provider would report for a new resource: the given values, and unknown values for
 * other strings.
 */
function imaginedStatus({ parameters, observation }: ManagedKind, forProvider: Values): Readonly<Record<string, Json>> {
  return { ...unknownTexts(observation), ...unknownTexts(parameters), ...forProvider } as Readonly<Record<string, Json>>
}

function unknownTexts(node: Node): Values {
  const entries = Object.entries(node.fields ?? {}).flatMap(([name, field]): [string, unknown][] => {
    if (field.sensitive) return []
    if (field.type === 'string') return [[name, UNKNOWN]]
    return field.type === 'object' ? [[name, unknownTexts(field)]] : []
  })
  return Object.fromEntries(entries)
}
