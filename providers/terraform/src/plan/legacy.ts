import type { Block, NestedBlock } from '../protocol/schema.js'
import { typeOfBlock } from '../protocol/schema.js'
import { hasDynamic } from '../protocol/types.js'
import { isList, isMap, Unknown, unknown, type Value, type ValueMap } from '../protocol/values.js'
import { emptyBlock } from './proposed.js'

/**
 * Providers on the older SDK return null or unknown where a nested block is empty or not known. The rest of the program
 * relies on blocks that are neither.
 */
export function normalizeLegacy(block: Block, value: Value): Value {
  if (!isMap(value)) return value
  const blocks = Object.entries(block.blocks).map(([name, nested]) => [
    name,
    hasDynamic(typeOfBlock(nested.block)) ? (value[name] ?? null) : normalizeNested(nested, value[name] ?? null),
  ])
  return { ...value, ...Object.fromEntries(blocks) }
}

function normalizeNested({ nesting, block }: NestedBlock, value: Value): Value {
  switch (nesting) {
    case 'list':
    case 'set':
      if (value instanceof Unknown) return [unknownBlock(block)]
      return isList(value) ? value.map((item) => normalizeLegacy(block, item)) : []
    case 'map':
      return value
    default:
      if (value instanceof Unknown) return unknownBlock(block)
      if (value === null) return nesting === 'group' ? emptyBlock(block) : null
      return normalizeLegacy(block, value)
  }
}

/** A block cannot be unknown itself; all that is in it can. */
function unknownBlock(block: Block): ValueMap {
  const blocks = Object.entries(block.blocks).map(([name, nested]): [string, Value] => {
    const inner = unknownBlock(nested.block)
    if (nested.nesting === 'map') return [name, {}]
    return [name, nested.nesting === 'list' || nested.nesting === 'set' ? [inner] : inner]
  })
  return {
    ...Object.fromEntries(Object.keys(block.attributes).map((name) => [name, unknown])),
    ...Object.fromEntries(blocks),
  }
}
