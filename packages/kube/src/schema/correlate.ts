import { printNumber, quote } from '@crosstie/cel/kubernetes'
import { equal, getOwn } from '../json.js'
import type { SchemaNode } from './node.js'

/**
 * A value together with the old value that it corresponds to. Validation tolerates errors of unchanged values, so
 * it must know them at every place. Items of lists correspond only if the list has keys.
 */
export class Correlation {
  private same: boolean | undefined
  private oldByKey: Map<string, unknown> | undefined

  constructor(
    readonly value: unknown,
    readonly old: unknown,
    private readonly node: SchemaNode,
  ) {}

  /** Undefined if there is no old value to compare with. */
  key(name: string): Correlation | undefined {
    if (!isMap(this.value) || !isMap(this.old)) return undefined
    const value = getOwn(this.value, name)
    const old = getOwn(this.old, name)
    const child = this.node.field(name)
    if (value === undefined || old === undefined || !child) return undefined
    return new Correlation(value, old, child)
  }

  index(i: number): Correlation | undefined {
    const items = this.node.items
    if (this.node.listType !== 'map' || !items || !Array.isArray(this.value) || !Array.isArray(this.old))
      return undefined
    const key = this.keyOf(this.value[i])
    const old = key === undefined ? undefined : this.oldItems().get(key)
    return old === undefined ? undefined : new Correlation(this.value[i], old, items)
  }

  /** Reports whether the value did not change. Keyed lists are compared item by item in any order. */
  unchanged(): boolean {
    this.same ??= this.compare()
    return this.same
  }

  private compare(): boolean {
    const { value, old } = this
    if (value === null || old === null) return value === old
    if (Array.isArray(value) && Array.isArray(old)) return this.compareLists(value, old)
    if (!isMap(value) || !isMap(old)) return equal(value, old)
    const keys = Object.keys(value).filter((key) => value[key] !== undefined)
    if (keys.length !== Object.keys(old).filter((key) => old[key] !== undefined).length) return false
    return keys.every((key) => this.key(key)?.unchanged() ?? false)
  }

  private compareLists(value: readonly unknown[], old: readonly unknown[]): boolean {
    if (value.length !== old.length) return false
    if (this.node.listType !== 'map') return equal(value, old)
    return value.every((_, i) => this.index(i)?.unchanged() ?? false)
  }

  private oldItems(): Map<string, unknown> {
    if (this.oldByKey) return this.oldByKey
    this.oldByKey = new Map()
    for (const item of this.node.schema.type === 'array' ? (this.old as unknown[]) : []) {
      const key = this.keyOf(item)
      if (key !== undefined && !this.oldByKey.has(key)) this.oldByKey.set(key, item)
    }
    return this.oldByKey
  }

  private keyOf(item: unknown): string | undefined {
    const names = this.node.schema['x-kubernetes-list-map-keys'] ?? []
    if (!isMap(item) || names.length === 0) return undefined
    const parts: string[] = []
    for (const name of names) {
      const part = getOwn(item, name)
      if (typeof part === 'string') parts.push(quote(part))
      else if (typeof part === 'number' || typeof part === 'bigint') parts.push(printNumber(part))
      else if (typeof part === 'boolean') parts.push(String(part))
      else return undefined
    }
    return parts.join('\0')
  }
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
