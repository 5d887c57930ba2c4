import { type KubeObject, parseJson, stringify } from '@crosstie/kube'
import type { Slabs } from './slabs.js'
import type { Stored } from './store.js'

/**
 * One state of one key: the JSON always, the parsed object as long as it is
 * worth its memory. A deletion is a version too, and holds the last words.
 */
export class Version implements Stored {
  readonly key: string
  readonly revision: number
  /** Replaced by the same in other memory when history forgets the change that made it. */
  bytes: Uint8Array
  readonly deleted: boolean
  /** The state before this one, until compaction forgets it. */
  previous: Version | undefined
  /** A deletion whose object is the one before, with the revision of the deletion. */
  repeats = false
  /** Something newer has taken its place. */
  past: boolean
  /** Held by `Parsed` alone: the object, a weak reference to it, or nothing yet. */
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

/** Of states that are past, so much JSON is kept parsed: watchers ask for them soon or never. */
const PAST_BYTES = 4 << 20

/**
 * Bounds what parsed objects cost. The JSON of every object stays in memory, a
 * parsed object takes two to four times as much: the oldest ones are let go, and
 * parsed again when somebody asks. Whoever still holds one goes on sharing it.
 */
export class Parsed {
  readonly #current: Shelf
  readonly #past = new Queue(PAST_BYTES)

  /** @param limit Bytes of JSON whose parsed form is kept. */
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

  /** The version is no longer the newest of its key. */
  retire(version: Version): void {
    version.past = true
    if (this.#current.remove(version)) this.#past.add(version)
  }
}

/** Present versions whose object is held; those that came first make room for others. */
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

/** Past versions whose object is held, for a short while: nobody looks them up, so nobody needs to find them again. */
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

/** The object as it is stored under a revision; the one handed in stays as it is. */
export function withRevision(object: KubeObject, revision: number): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } }
}

export function bytesOf(object: KubeObject, slabs: Slabs): Uint8Array {
  const text = stringify(object)
  const length = Buffer.byteLength(text)
  const bytes = slabs.take(length)
  bytes.write(text, length === text.length ? 'latin1' : 'utf8')
  return bytes
}

export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
}
