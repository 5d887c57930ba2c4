import type { Attribute, Block, NestedAttributes, NestedBlock } from '../protocol/schema.js'
import { typeOfBlock } from '../protocol/schema.js'
import { Dynamic, isList, isMap, sameValue, Unknown, type Value, type ValueMap } from '../protocol/values.js'

/**
 * The state that Terraform core proposes to a provider: the configuration, with the values that the provider chose
 * before where the configuration leaves them open. Providers rely on the exact rules; many crash when they are sent the
 * bare configuration.
 */
export function proposedNewState(block: Block, prior: Value, config: Value): Value {
  if (prior === null && config === null) return null
  return proposedBlock(block, prior ?? emptyBlock(block), config)
}

/** A block without arguments: attributes are null, nested blocks empty. */
export function emptyBlock(block: Block): ValueMap {
  return {
    ...Object.fromEntries(Object.keys(block.attributes).map((name) => [name, null])),
    ...Object.fromEntries(Object.entries(block.blocks).map(([name, nested]) => [name, emptyNested(nested)])),
  }
}

function emptyNested({ nesting, block }: NestedBlock): Value {
  switch (nesting) {
    case 'list':
    case 'set':
      return []
    case 'map':
      return {}
    case 'group':
      return emptyBlock(block)
    case 'single':
      return null
  }
}

function proposedBlock(block: Block, prior: Value, config: Value): Value {
  if (!isMap(config)) return prior
  const before = isMap(prior) ? prior : emptyBlock(block)
  const blocks = Object.entries(block.blocks).map(([name, nested]) => [
    name,
    proposedNested(nested, before[name] ?? null, config[name] ?? null),
  ])
  return { ...proposedAttributes(block.attributes, before, config), ...Object.fromEntries(blocks) }
}

function proposedAttributes(attributes: Readonly<Record<string, Attribute>>, prior: Value, config: ValueMap): ValueMap {
  const before = isMap(prior) ? prior : {}
  return Object.fromEntries(
    Object.entries(attributes).map(([name, attribute]) => [
      name,
      proposedAttribute(attribute, before[name] ?? null, config[name] ?? null),
    ]),
  )
}

function proposedAttribute(attribute: Attribute, prior: Value, config: Value): Value {
  if (attribute.computed && config === null) {
    // A prior value with parts that only a user can have set was configured before, and is now left open.
    const configured = attribute.optional && attribute.nested && hasConfigured(attribute.nested, prior)
    return configured ? null : prior
  }
  return attribute.nested ? proposedNestedAttribute(attribute.nested, prior, config) : config
}

function hasConfigured({ nesting, attributes }: NestedAttributes, value: Value): boolean {
  return itemsOf(nesting, value).some(
    (item) =>
      isMap(item) &&
      Object.entries(attributes).some(([name, attribute]) => {
        const inner = item[name] ?? null
        if (inner === null) return false
        return !attribute.computed || (attribute.nested !== undefined && hasConfigured(attribute.nested, inner))
      }),
  )
}

function itemsOf(nesting: NestedBlock['nesting'], value: Value): readonly Value[] {
  if (nesting === 'single' || nesting === 'group') return [value]
  if (isList(value)) return value
  return isMap(value) ? Object.values(value) : []
}

/** Merges one item of the configuration with the item that it was before. */
type Merge = (prior: Value, config: Value) => Value

function proposedNested({ nesting, block }: NestedBlock, prior: Value, config: Value): Value {
  const merge: Merge = (before, item) => proposedNewState(block, before, item)
  const fits = (before: Value, item: Value) => couldComeFrom(block, before, item)
  return proposedItems(nesting, prior, config, merge, fits)
}

function proposedNestedAttribute({ nesting, attributes }: NestedAttributes, prior: Value, config: Value): Value {
  const merge: Merge = (before, item) => (isMap(item) ? proposedAttributes(attributes, before, item) : item)
  const fits = (before: Value, item: Value) => couldComeFrom(asBlock(attributes), before, item)
  return proposedItems(nesting, prior, config, merge, fits)
}

const asBlock = (attributes: Readonly<Record<string, Attribute>>): Block => ({
  attributes,
  blocks: {},
  description: '',
  deprecated: false,
})

function proposedItems(
  nesting: NestedBlock['nesting'],
  prior: Value,
  config: Value,
  merge: Merge,
  fits: (prior: Value, config: Value) => boolean,
): Value {
  if (config instanceof Unknown) return config
  // A collection whose items carry their own types is handed on as it is configured.
  if (config instanceof Dynamic) return config
  switch (nesting) {
    case 'group':
      return merge(prior, config)
    case 'single':
      return config === null ? null : merge(prior, config)
    case 'list':
      return isList(config) ? proposedList(prior, config, merge) : config
    case 'map':
      return isMap(config) ? proposedMap(prior, config, merge) : config
    case 'set':
      return isList(config) ? proposedSet(prior, config, merge, fits) : config
  }
}

/** Items of lists are matched by index. */
function proposedList(prior: Value, config: readonly Value[], merge: Merge): Value {
  const before = isList(prior) ? prior : []
  return config.map((item, index) => (index < before.length ? merge(before[index]!, item) : item))
}

function proposedMap(prior: Value, config: ValueMap, merge: Merge): Value {
  const before = isMap(prior) ? prior : {}
  return Object.fromEntries(
    Object.entries(config).map(([key, item]) => [key, Object.hasOwn(before, key) ? merge(before[key]!, item) : item]),
  )
}

/** Items of sets are matched with the first prior item that could have come from the same configuration. */
function proposedSet(
  prior: Value,
  config: readonly Value[],
  merge: Merge,
  fits: (prior: Value, config: Value) => boolean,
): Value {
  const left = isList(prior) ? [...prior] : []
  return config.map((item) => {
    const at = left.findIndex((before) => fits(before, item))
    const [before] = at < 0 ? [null] : left.splice(at, 1)
    return merge(before!, item)
  })
}

/** True when the prior item differs from the configured one only where the provider may choose. */
function couldComeFrom(block: Block, prior: Value, config: Value): boolean {
  if (sameValue(typeOfBlock(block), prior, config)) return true
  if (!isMap(prior)) return true
  if (!isMap(config)) return false
  const attributes = Object.entries(block.attributes).every(([name, attribute]) =>
    attributeFits(attribute, prior[name] ?? null, config[name] ?? null),
  )
  return (
    attributes &&
    Object.entries(block.blocks).every(([name, nested]) =>
      nestedFits(nested, prior[name] ?? null, config[name] ?? null),
    )
  )
}

function attributeFits(attribute: Attribute, prior: Value, config: Value): boolean {
  if (sameValue(attribute.type, prior, config)) return true
  if (typeof attribute.type === 'object' && attribute.type.kind === 'set') return false
  if (attribute.nested) {
    return nestedFits({ ...attribute.nested, block: asBlock(attribute.nested.attributes) }, prior, config)
  }
  return attribute.computed && config === null
}

function nestedFits({ nesting, block }: Pick<NestedBlock, 'nesting' | 'block'>, prior: Value, config: Value): boolean {
  if (nesting === 'single' || nesting === 'group') return couldComeFrom(block, prior, config)
  if (nesting === 'set') {
    const type = { kind: 'set' as const, element: typeOfBlock(block) }
    return sameValue(type, prior, config)
  }
  if (nesting === 'map') {
    const held = isMap(config) ? config : {}
    const entries = isMap(prior) ? Object.entries(prior) : []
    return entries.every(([key, item]) => Object.hasOwn(held, key) && couldComeFrom(block, item, held[key]!))
  }
  const held = isList(config) ? config : []
  const items = isList(prior) ? prior : []
  return items.every((item, index) => index < held.length && couldComeFrom(block, item, held[index]!))
}

/** The value at a path, or undefined where it leads nowhere. */
export function valueAt(value: Value, path: readonly (string | number)[]): Value | undefined {
  let at: Value | undefined = value
  for (const step of path) {
    if (isList(at) && typeof step === 'number') at = at[step]
    else if (isMap(at) && typeof step === 'string') at = at[step]
    else return undefined
  }
  return at
}
