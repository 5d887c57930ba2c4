import { type KubeObject, parseJson, stringify } from '@crosstie/kube'
import type { Slabs } from './slabs.js'
import type { Stored } from './store.js'

/**
 * One state of one key: always the JSON, and the parsed object while it is cached. A deletion is a version, too,
 * and holds the last state.
 */
export class Version implements Stored {
  readonly key: string
  readonly revision: number
  /** Moved to memory of its own when the change is compacted. */
  bytes: Uint8Array
  readonly deleted: boolean
  /** The previous state, until it is compacted. */
  previous: Version | undefined
  /** Whether this is a deletion whose object is the previous one, with the revision of the deletion. */
  repeats = false
  /** Whether there is a newer version. */
  past: boolean
  /** Managed by `Parsed` only: the object, a weak reference to it, or undefined. */
  parsed: KubeObject | WeakRef<KubeObject> | undefined
  shownBy: unknown
  readonly #home: Parsed

  constructor(home: Parsed, key: string, revision: number, bytes: Uint8Array, deleted: boolean) {
    this.#home = home
    this.key = key
    this.revision = revision
    this.bytes = bytes
    this.deleted = deleted
    this.previous = undefined
    this.past = false
    this.parsed = undefined
    this.shownBy = undefined
  }

  get object(): KubeObject {
    const { parsed } = this
    if (parsed !== undefined && !(parsed instanceof WeakRef)) return parsed
    return this.#home.parse(this, parsed)
  }
}

/** The number of bytes of JSON of past states whose parsed form is cached. Watchers need them soon or never. */
const PAST_BYTES = 4 << 20

/**
 * Bounds the memory of parsed objects. The JSON of every object stays in memory, and a parsed object takes two to
 * four times as much. The oldest are evicted and parsed again on use. Holders of an evicted object keep sharing it.
 */
export class Parsed {
  readonly #current: Shelf
  readonly #past = new Queue(PAST_BYTES)

  /** @param limit The number of bytes of JSON whose parsed form is cached. */
  constructor(limit: number) {
    this.#current = new Shelf(limit)
  }

  keep(version: Version, object: KubeObject): void {
    version.parsed = object
    if (version.past) this.#past.add(version)
    else this.#current.add(version)
  }

  parse(version: Version, weak: WeakRef<KubeObject> | undefined): KubeObject {
    const object = weak?.deref() ?? (parseJson(textOf(version.bytes)) as KubeObject)
    this.keep(version, object)
    return object
  }

  /** Called when the version is no longer the newest of its key. */
  retire(version: Version): void {
    version.past = true
    if (this.#current.remove(version)) this.#past.add(version)
  }
}

/** Current versions with a cached object. The oldest are evicted first. */
class Shelf {
  readonly #versions = new Set<Version>()
  readonly #limit: number
  #bytes = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  add(version: Version): void {
    this.#versions.add(version)
    this.#bytes += version.bytes.length
    if (this.#bytes > this.#limit) this.#makeRoom(version)
  }

  remove(version: Version): boolean {
    if (!this.#versions.delete(version)) return false
    this.#bytes -= version.bytes.length
    return true
  }

  #makeRoom(newest: Version): void {
    for (const version of this.#versions) {
      if (this.#bytes <= this.#limit || version === newest) return
      this.remove(version)
      version.parsed = new WeakRef(version.parsed as KubeObject)
    }
  }
}

/** Past versions with a cached object. They are kept briefly and never looked up. */
class Queue {
  readonly #limit: number
  #versions: Version[] = []
  #first = 0
  #bytes = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  add(version: Version): void {
    this.#versions.push(version)
    this.#bytes += version.bytes.length
    while (this.#bytes > this.#limit) {
      const oldest = this.#versions[this.#first++]!
      oldest.parsed = undefined
      this.#bytes -= oldest.bytes.length
    }
    if (this.#first > 1024 && this.#first * 2 > this.#versions.length) {
      this.#versions = this.#versions.slice(this.#first)
      this.#first = 0
    }
  }
}

/** Returns the object with the revision. The argument is not changed. */
export function withRevision(object: KubeObject, revision: number): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } }
}

/** Returns the JSON of an object, in memory of the slabs. */
export function bytesOf(object: KubeObject, slabs: Slabs): Uint8Array {
  const text = stringify(object)
  const length = Buffer.byteLength(text)
  const bytes = slabs.take(length)
  bytes.write(text, length === text.length ? 'latin1' : 'utf8')
  return bytes
}

/** Decodes UTF-8. */
export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
}
