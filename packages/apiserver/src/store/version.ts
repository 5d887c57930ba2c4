import { type KubeObject, stringify } from '@crosstie/kube'
import { parseJson } from './parse.js'
import type { Stored } from './store.js'

/**
 * One state of one key: the JSON always, the parsed object as long as it is
 * worth its memory. A deletion is a version too, and holds the last words.
 */
export class Version implements Stored {
  readonly key: string
  readonly revision: number
  readonly bytes: Uint8Array
  readonly deleted: boolean
  /** The state before this one, until compaction forgets it. */
  previous: Version | undefined
  /** Held by `Parsed` alone: the object, a weak reference to it, or nothing yet. */
  parsed: KubeObject | WeakRef<KubeObject> | undefined
  readonly #home: Parsed

  constructor(home: Parsed, key: string, revision: number, bytes: Uint8Array, deleted: boolean) {
    this.#home = home
    this.key = key
    this.revision = revision
    this.bytes = bytes
    this.deleted = deleted
    this.previous = undefined
    this.parsed = undefined
  }

  get object(): KubeObject {
    const { parsed } = this
    if (parsed !== undefined && !(parsed instanceof WeakRef)) return parsed
    return this.#home.parse(this, parsed)
  }
}

/**
 * Bounds what parsed objects cost. The JSON of every object stays in memory, a
 * parsed object takes two to four times as much: the oldest ones are let go, and
 * parsed again when somebody asks. Whoever still holds one goes on sharing it.
 */
export class Parsed {
  readonly #limit: number
  #bytes = 0
  #held: Version[] = []
  #head = 0

  /** @param limit Bytes of JSON whose parsed form is kept. */
  constructor(limit: number) {
    this.#limit = limit
  }

  keep(version: Version, object: KubeObject): void {
    version.parsed = object
    this.#held.push(version)
    this.#bytes += version.bytes.length
    while (this.#bytes > this.#limit && this.#held.length - this.#head > 1) this.#letGo()
  }

  parse(version: Version, weak: WeakRef<KubeObject> | undefined): KubeObject {
    const object = weak?.deref() ?? (parseJson(textOf(version.bytes)) as KubeObject)
    this.keep(version, object)
    return object
  }

  #letGo(): void {
    const oldest = this.#held[this.#head++]!
    this.#bytes -= oldest.bytes.length
    oldest.parsed = new WeakRef(oldest.parsed as KubeObject)
    if (this.#head > 1024 && this.#head * 2 > this.#held.length) {
      this.#held = this.#held.slice(this.#head)
      this.#head = 0
    }
  }
}

/** The object as it is stored under a revision; the one handed in stays as it is. */
export function withRevision(object: KubeObject, revision: number): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } }
}

/** Its own memory, not a slice of a pool: one long-lived object must not hold its dead neighbours. */
export function bytesOf(object: KubeObject): Uint8Array {
  const text = stringify(object)
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}

export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
}
