import { createHash } from 'node:crypto'
import { stringify } from '@crosstie/kube'
import { encodeModel, encodePath } from './gnostic.js'
import { type Dialect, type Document, structModel } from './schemas.js'

/**
 * A named part of a document: a model or a path. It is encoded on first use and cached, because documents are
 * assembled again whenever a kind changes.
 */
export class Part {
  readonly name: string
  readonly #make: () => Document
  #json: Buffer | undefined
  #hash: Buffer | undefined
  #protobuf: Buffer | undefined

  constructor(name: string, make: () => Document) {
    this.name = name
    this.#make = make
  }

  /** `"name":{…}` */
  get json(): Buffer {
    this.#json ??= Buffer.from(`${JSON.stringify(this.name)}:${stringify(this.#make())}`)
    return this.#json
  }

  get hash(): Buffer {
    this.#hash ??= createHash('sha256').update(this.json).digest()
    return this.#hash
  }

  /** The entry in gnostic's paths or definitions. */
  get protobuf(): Buffer {
    this.#protobuf ??= (this.name.startsWith('/') ? encodePath : encodeModel)(this.name, this.#make())
    return this.#protobuf
  }

  /** Returns a copy with more properties. */
  with(more: Document): Part {
    return new Part(this.name, () => ({ ...this.#make(), ...more }))
  }
}

const known = { v2: new Map<string, Part>(), v3: new Map<string, Part>() }

/** Adds the models and everything that they reference. */
export function addModels(names: Iterable<string>, into: Map<string, Part>, dialect: Dialect): void {
  for (const name of names) {
    if (into.has(name)) continue
    const { document, refs } = structModel(name, dialect)
    let part = known[dialect].get(name)
    if (!part) {
      part = new Part(name, () => document)
      known[dialect].set(name, part)
    }
    // Added before its references, because schemas are recursive.
    into.set(name, part)
    addModels(refs, into, dialect)
  }
}
