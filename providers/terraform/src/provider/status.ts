import { isDeepStrictEqual } from 'node:util'
import { type Client, type Condition, setConditions, systemClock, timestamp } from '@crosstie/kube'
import { type ProviderStatus, type TerraformProvider, terraformProviderType } from './definition.js'

/** Whether the provider is installed, or its kinds are served, and why not. */
export interface Report extends Omit<ProviderStatus, 'conditions'> {
  readonly conditions: readonly (Pick<Condition, 'type' | 'reason' | 'message'> & { readonly holds: boolean })[]
}

/** The conditions of a TerraformProvider. */
export const said = {
  installed: { type: 'Installed', holds: true, reason: 'Installed' },
  notInstalled: { type: 'Installed', holds: false, reason: 'NotInstalled' },
  served: { type: 'Ready', holds: true, reason: 'Served' },
  unhealthy: { type: 'Ready', holds: false, reason: 'Unhealthy' },
  inUse: { type: 'Ready', holds: false, reason: 'InUse' },
} as const

/** Writes the status when it changed. Fields that the report leaves out stay as they are. */
export async function writeStatus(
  client: Client,
  object: TerraformProvider,
  report: Report,
  signal: AbortSignal,
): Promise<void> {
  const { conditions, ...fields } = report
  const held = object.status?.conditions ?? []
  const set = conditions.map(({ holds, message = '', ...rest }) => {
    const status = holds ? 'True' : 'False'
    const before = held.find(({ type }) => type === rest.type)
    const since = before?.status === status ? before.lastTransitionTime : undefined
    const lastTransitionTime = since ?? timestamp(systemClock.now())
    const observedGeneration = object.metadata.generation ?? 0
    return { ...rest, status, message, lastTransitionTime, observedGeneration } satisfies Condition
  })
  const status = { ...object.status, ...fields, conditions: setConditions(held, ...set) }
  if (isDeepStrictEqual(status, object.status)) return
  const { name } = object.metadata
  const newest = await client.get<TerraformProvider>(terraformProviderType, { name }, { signal })
  await client.update(terraformProviderType, { ...newest, status }, { subresource: 'status', signal })
}

const MIB = 1024 * 1024
/** Coarse, since each new figure is a write. */
const MEMORY_STEP = 8 * MIB

export const memoryText = (bytes: number): string => `${Math.ceil(bytes / MEMORY_STEP) * (MEMORY_STEP / MIB)}Mi`
