import type { KubeconfigContent } from '@crosstie/apiserver'

/** What the victim says first. */
export interface Hello {
  readonly access: KubeconfigContent
}

/** What it holds after collecting garbage. */
export interface Held {
  /** Bytes in objects and buffers. */
  readonly heap: number
  readonly rss: number
  readonly handles: number
  readonly watchers: number
}

/** How busy the main thread was since the last question, in milliseconds of CPU time. */
export interface Busy {
  /** The longest time in one piece. */
  readonly longest: number
  readonly total: number
}
