import type { Definition } from '../definitions/definition.js'
import { RESERVED_GROUPS } from './reserved-groups.js'
import { Served } from './served.js'

/**
 * The kinds that are served now: the built-in kinds, which never change, and those of CRDs. The groups of built-in kinds
 * are reserved. Objects are stored below `/<group>/<plural>/`, so a custom resource never shares a key with a built-in kind.
 */
export class KindRegistry {
  readonly #reserved: ReadonlySet<string>
  readonly #definitions = new Map<string, Definition>()
  readonly #served = new Map<string, Served>()
  readonly #listeners = new Set<(definition: Definition) => void>()
  #epoch = 0

  constructor(definitions: readonly Definition[]) {
    this.#reserved = new Set([...RESERVED_GROUPS, ...definitions.map(({ group }) => group)])
    for (const definition of definitions) this.#add(definition)
  }

  /** Whether the group belongs to built-in kinds. CRDs of such a group are not served. */
  isReserved(group: string): boolean {
    return this.#reserved.has(group)
  }

  /** Grows with every change, so that derived documents can detect that they are stale. */
  get epoch(): number {
    return this.#epoch
  }

  definitions(): readonly Definition[] {
    return [...this.#definitions.values()]
  }

  definition(group: string, plural: string): Definition | undefined {
    return this.#definitions.get(`${group}/${plural}`)
  }

  resolve(group: string, version: string, plural: string): Served | undefined {
    return this.#served.get(`${group}/${version}/${plural}`)
  }

  /** Returns the storage version of the kind. */
  storage(definition: Definition): Served {
    return this.resolve(definition.group, definition.storage, definition.names.plural) ?? hidden(definition)
  }

  byKind(group: string, version: string, kind: string): Served | undefined {
    for (const served of this.#served.values()) {
      const { type } = served
      if (type.group === group && type.version === version && type.kind === kind) return served
    }
    return undefined
  }

  all(): readonly Served[] {
    return [...this.#served.values()]
  }

  servesGroup(group: string, version?: string): boolean {
    for (const { type } of this.#served.values()) {
      if (type.group === group && (version === undefined || type.version === version)) return true
    }
    return false
  }

  /** Adds or replaces the kind of a CRD. Throws for a kind of a reserved group. */
  put(definition: Definition): void {
    if (this.isReserved(definition.group)) {
      throw new Error(`the group ${definition.group} is reserved for built-in kinds`)
    }
    this.#drop(definition.group, definition.names.plural)
    this.#add(definition)
    this.#changed(definition)
  }

  remove(group: string, plural: string): void {
    if (this.isReserved(group)) return
    const gone = this.#drop(group, plural)
    if (gone) this.#changed(gone)
  }

  /**
   * Calls the listener with each definition that was added, replaced or removed. Returns the function that
   * unsubscribes.
   */
  onChange(listener: (definition: Definition) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #add(definition: Definition): void {
    this.#definitions.set(`${definition.group}/${definition.names.plural}`, definition)
    for (const version of definition.versions) {
      const served = new Served(definition, version)
      this.#served.set(`${definition.group}/${version.name}/${definition.names.plural}`, served)
    }
  }

  #drop(group: string, plural: string): Definition | undefined {
    const old = this.#definitions.get(`${group}/${plural}`)
    for (const version of old?.versions ?? []) this.#served.delete(`${group}/${version.name}/${plural}`)
    this.#definitions.delete(`${group}/${plural}`)
    return old
  }

  #changed(definition: Definition): void {
    this.#epoch++
    for (const listener of this.#listeners) listener(definition)
  }
}

// The storage version of a CRD need not be served, but writes must be pruned by its schema.
const hiddenVersions = new WeakMap<Definition, Served>()
function hidden(definition: Definition): Served {
  const known = hiddenVersions.get(definition)
  if (known) return known
  const version = definition.storageVersion ?? { ...definition.versions[0]!, name: definition.storage }
  const served = new Served(definition, version)
  hiddenVersions.set(definition, served)
  return served
}
