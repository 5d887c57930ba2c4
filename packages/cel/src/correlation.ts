import { equal, getOwn, isObject } from './kubernetes/json.js'
import type { SchemaNode } from './schema-node.js'

/** Finds the old item with the same keys. Only lists of type map have keys. */
export class KeyedItems {
  private byKey: Map<string, unknown> | undefined

  constructor(
    private readonly items: readonly unknown[],
    private readonly keys: readonly string[],
  ) {}

  static of(node: SchemaNode, items: unknown): KeyedItems | undefined {
    if (node.type !== 'array' || node.listType !== 'map' || node.listMapKeys.length === 0) return undefined
    return Array.isArray(items) && items.length > 0 ? new KeyedItems(items, node.listMapKeys) : undefined
  }

  get(item: unknown): unknown {
    const key = this.keyOf(item)
    if (key === undefined) return undefined
    this.byKey ??= this.index()
    return this.byKey.get(key)
  }

  private index(): Map<string, unknown> {
    const byKey = new Map<string, unknown>()
    for (const item of this.items) {
      const key = this.keyOf(item)
      if (key !== undefined && !byKey.has(key)) byKey.set(key, item)
    }
    return byKey
  }

  private keyOf(item: unknown): string | undefined {
    if (!isObject(item)) return undefined
    let key = ''
    for (const name of this.keys) {
      const part = getOwn(item, name)
      if (part === undefined || part === null || typeof part === 'object') return undefined
      key += `\0${typeof part === 'string' ? JSON.stringify(part) : String(part)}`
    }
    return key
  }
}

/**
 * A value together with the old value that it corresponds to, as far as the schema defines that. Caches the
 * comparison.
 */
export class Correlation {
  private same: boolean | undefined
  private keyed: KeyedItems | undefined | null = null
  private children: Map<string | number, Correlation> | undefined

  constructor(
    private readonly value: unknown,
    private readonly old: unknown,
    private readonly node: SchemaNode,
  ) {}

  key(name: string): Correlation | undefined {
    const known = this.children?.get(name)
    if (known) return known
    if (!isObject(this.value) || !isObject(this.old)) return undefined
    const value = getOwn(this.value, name)
    const old = getOwn(this.old, name)
    const node = this.node.properties?.get(name) ?? this.node.additional
    return value === undefined || old === undefined || !node ? undefined : this.child(name, value, old, node)
  }

  index(i: number): Correlation | undefined {
    const known = this.children?.get(i)
    if (known) return known
    const { items } = this.node
    if (!Array.isArray(this.value) || !Array.isArray(this.old) || i >= this.value.length || !items) return undefined
    const old = this.oldItems()?.get(this.value[i])
    return old === undefined ? undefined : this.child(i, this.value[i], old, items)
  }

  /** Reports whether the value did not change. Items of keyed lists are compared with the old item of the same keys. */
  unchanged(): boolean {
    this.same ??= this.compare()
    return this.same
  }

  private oldItems(): KeyedItems | undefined {
    if (this.keyed === null) this.keyed = this.node.listType === 'map' ? KeyedItems.of(this.node, this.old) : undefined
    return this.keyed
  }

  private child(at: string | number, value: unknown, old: unknown, node: SchemaNode): Correlation {
    const child = new Correlation(value, old, node)
    this.children ??= new Map()
    this.children.set(at, child)
    return child
  }

  private compare(): boolean {
    const { value, old } = this
    if (value === null || old === null || value === undefined || old === undefined) return value === old
    if (Array.isArray(value) && Array.isArray(old)) {
      if (value.length !== old.length) return false
      if (this.node.listType !== 'map') return equal(value, old)
      return value.every((_, i) => this.index(i)?.unchanged() ?? false)
    }
    if (!isObject(value) || !isObject(old)) return equal(value, old)
    const names = Object.keys(value)
    return names.length === Object.keys(old).length && names.every((name) => this.key(name)?.unchanged() ?? false)
  }
}

interface Standing {
  readonly current: Correlation | undefined
  /** The nearest enclosing place with an old value, if this place does not have one. */
  readonly nearestParent: Correlation | undefined
}

type Way = { readonly key: string } | { readonly index: number } | 'allOf'

/**
 * The position of a rule relative to the old object. Failures of rules on unchanged values are tolerated. Old and
 * new values are only compared after a rule failed.
 */
export class Ratchet {
  /** Tolerates no failure, as for the creation of an object. */
  static readonly none = new Ratchet({ current: undefined, nearestParent: undefined })

  private constructor(private standing: Standing | { readonly from: Ratchet; readonly way: Way }) {}

  static of(root: Correlation): Ratchet {
    return new Ratchet({ current: root, nearestParent: undefined })
  }

  tolerates(): boolean {
    const { current, nearestParent } = this.resolve()
    return (current ?? nearestParent)?.unchanged() ?? false
  }

  key(key: string): Ratchet {
    return this === Ratchet.none ? this : new Ratchet({ from: this, way: { key } })
  }

  index(index: number): Ratchet {
    return this === Ratchet.none ? this : new Ratchet({ from: this, way: { index } })
  }

  /** Returns the ratchet for a branch of allOf, which does not tolerate failures on its own. */
  withinAllOf(): Ratchet {
    return this === Ratchet.none ? this : new Ratchet({ from: this, way: 'allOf' })
  }

  private resolve(): Standing {
    if ('from' in this.standing) this.standing = follow(this.standing.from.resolve(), this.standing.way)
    return this.standing
  }
}

function follow(standing: Standing, way: Way): Standing {
  const { current, nearestParent } = standing
  if (way === 'allOf') return { current: undefined, nearestParent }
  if (!current) return standing
  if ('index' in way) return { current: current.index(way.index), nearestParent: current }
  // apiVersion and kind cannot differ from the old object, so failures on them cannot be tolerated.
  const isType = !nearestParent && (way.key === 'apiVersion' || way.key === 'kind')
  return isType
    ? { current: undefined, nearestParent: undefined }
    : { current: current.key(way.key), nearestParent: current }
}
