import { type Clock, systemClock } from '@crosstie/kube'
import { EmbeddedStore } from './embedded.js'
import { defaultHistory, type HistoryLimits, Horizon } from './horizon.js'
import { State } from './state.js'
import { Parsed } from './version.js'

/** The number of bytes of JSON whose parsed objects are cached. */
export const PARSED_BYTES = 32 << 20

/** Options of MemoryStore. */
export interface MemoryStoreOptions {
  readonly clock?: Clock
  readonly history?: Partial<HistoryLimits>
}

/** A store in memory, for tests and temporary servers. */
export class MemoryStore extends EmbeddedStore {
  constructor({ clock = systemClock, history }: MemoryStoreOptions = {}) {
    const parsed = new Parsed(PARSED_BYTES)
    const state = new State(parsed)
    const nowhere = {
      append: async () => {},
      hasRoom: async () => true,
      afterVisible: () => {},
      backup: async () => {
        throw new Error('a store in memory cannot be backed up')
      },
      close: async () => {},
    }
    const horizon = new Horizon(state, { ...defaultHistory, ...history })
    super(state, parsed, nowhere, horizon, clock)
  }
}
