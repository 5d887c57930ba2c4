import { randomUUID } from 'node:crypto'
import { listOf, textOf, type Values, valuesOf } from '../../values.js'
import { fact } from '../facts.js'
import type { Stored, World } from '../world.js'

/** The identity of a resource in answers: with the ids of principals. */
export function identityOf({ body, facts }: Stored, world: World, member: 'clientId' | 'tenantId'): Values | undefined {
  const identity = valuesOf(body['identity'])
  const type = textOf(identity['type'])
  if (type === undefined || type === 'None') return undefined
  const { tenant } = world.options
  const assigned = Object.keys(valuesOf(identity['userAssignedIdentities'])).map((id) => {
    const found = world.find(id)
    const principalId = found?.facts['principalId'] ?? randomUUID()
    const more = member === 'clientId' ? (found?.facts['clientId'] ?? randomUUID()) : tenant
    return [lowered(id), { principalId, [member]: more }]
  })
  const system = type.includes('SystemAssigned')
  const principal = system ? { principalId: fact(facts, 'principalId', () => randomUUID()), tenantId: tenant } : {}
  return {
    ...(assigned.length > 0 ? { userAssignedIdentities: Object.fromEntries(assigned) } : {}),
    ...principal,
    ...(member === 'tenantId' && !system ? { principalId: tenant, tenantId: tenant } : {}),
    type,
  }
}

/** Services of databases write ids of identities with `resourcegroups`. */
export const lowered = (id: string): string => id.replace('/resourceGroups/', '/resourcegroups/')

export const first = (value: unknown): unknown => listOf(value)[0]
