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
