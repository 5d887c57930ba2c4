import type { KubeconfigContent } from '@crosstie/apiserver'

/** The first message of the victim. */
export interface Hello {
  readonly access: KubeconfigContent
}

/** The resources that the victim holds after garbage collection. */
export interface Held {
  /** Bytes in objects and buffers. */
  readonly heap: number
  readonly rss: number
  readonly handles: number
  readonly watchers: number
}

/** The CPU time of the main thread since the last request, in milliseconds. */
export interface Busy {
  /** The longest uninterrupted time. */
  readonly longest: number
  readonly total: number
}
