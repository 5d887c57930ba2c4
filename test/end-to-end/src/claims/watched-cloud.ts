import { systemClock } from '@crosstie/kube'
import { type CloudCapabilities, type CloudResource, SimulatedCloud } from '@crosstie/resources/testing'

/** A call that changes something, and the resource that it names. */
export interface CloudWrite {
  readonly call: 'create' | 'update' | 'delete'
  readonly name: string
}

/** A simulated cloud that records which resource each changing call names, whether the call succeeds or not. */
export class WatchedCloud extends SimulatedCloud {
  readonly writes: CloudWrite[] = []

  constructor(capabilities: CloudCapabilities) {
    super({ ...capabilities, clock: systemClock })
  }

  override async create(wanted: Parameters<SimulatedCloud['create']>[0]): Promise<CloudResource> {
    const assigns = this.options.naming === 'provider-assigned'
    if (!assigns) this.writes.push({ call: 'create', name: wanted.name })
    const created = await super.create(wanted)
    if (assigns) this.writes.push({ call: 'create', name: created.name })
    return created
  }

  override async update(name: string, ...rest: Tail<Parameters<SimulatedCloud['update']>>): Promise<void> {
    this.writes.push({ call: 'update', name })
    await super.update(name, ...rest)
  }

  override async delete(name: string): Promise<void> {
    this.writes.push({ call: 'delete', name })
    await super.delete(name)
  }

  /** Returns the changing calls that name a resource. */
  writesTo(name: string): readonly string[] {
    return this.writes.filter((write) => write.name === name).map(({ call }) => call)
  }

  find(name: string): CloudResource | undefined {
    return this.resources.find((each) => each.name === name)
  }
}

type Tail<T extends readonly unknown[]> = T extends readonly [unknown, ...infer Rest] ? Rest : never
