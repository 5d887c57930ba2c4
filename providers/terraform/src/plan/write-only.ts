import type { Attribute, Block, NestedBlock } from '../protocol/schema.js'
import { isList, isMap, type Value, type ValueMap } from '../protocol/values.js'

/** The value with its write-only attributes null: they belong to the configuration and never to a state. */
export function withoutWriteOnly(block: Block, value: Value): Value {
  if (!isMap(value) || !hasWriteOnly(block)) return value
  const blocks = Object.entries(block.blocks).map(([name, nested]) => [name, inItems(nested, value[name] ?? null)])
  return { ...value, ...withoutAttributes(block.attributes, value), ...Object.fromEntries(blocks) }
}

function hasWriteOnly({ attributes, blocks }: Block): boolean {
  return Object.values(attributes).some(isWriteOnly) || Object.values(blocks).some(({ block }) => hasWriteOnly(block))
}

const isWriteOnly = ({ writeOnly, nested }: Attribute): boolean =>
  writeOnly || Object.values(nested?.attributes ?? {}).some(isWriteOnly)

function withoutAttributes(attributes: Readonly<Record<string, Attribute>>, value: ValueMap): ValueMap {
  const entries = Object.entries(attributes).map(([name, attribute]) => {
    const held = value[name] ?? null
    if (attribute.writeOnly) return [name, null]
    if (!attribute.nested || !isWriteOnly(attribute)) return [name, held]
    const { nesting, attributes: inner } = attribute.nested
    return [name, mapItems(nesting, held, (item) => (isMap(item) ? withoutAttributes(inner, item) : item))]
  })
  return Object.fromEntries(entries)
}

const inItems = ({ nesting, block }: NestedBlock, value: Value): Value =>
  mapItems(nesting, value, (item) => withoutWriteOnly(block, item))

function mapItems(nesting: NestedBlock['nesting'], value: Value, change: (item: Value) => Value): Value {
  if (nesting === 'single' || nesting === 'group') return change(value)
  if (isList(value)) return value.map(change)
  if (!isMap(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, change(item)]))
}
