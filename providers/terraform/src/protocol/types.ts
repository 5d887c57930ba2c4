/** A type constraint of the Terraform type system (cty), as provider schemas state it. */
export type CtyType =
  | 'string'
  | 'number'
  | 'bool'
  | 'dynamic'
  | { readonly kind: 'list' | 'set' | 'map'; readonly element: CtyType }
  | { readonly kind: 'object'; readonly attributes: Readonly<Record<string, CtyType>> }
  | { readonly kind: 'tuple'; readonly elements: readonly CtyType[] }

export type ObjectType = Extract<CtyType, { readonly kind: 'object' }>

export const listOf = (element: CtyType): CtyType => ({ kind: 'list', element })
export const setOf = (element: CtyType): CtyType => ({ kind: 'set', element })
export const mapOf = (element: CtyType): CtyType => ({ kind: 'map', element })
export const objectOf = (attributes: Readonly<Record<string, CtyType>>): ObjectType => ({ kind: 'object', attributes })
export const tupleOf = (elements: readonly CtyType[]): CtyType => ({ kind: 'tuple', elements })

/** Parses the JSON form of a type, such as `["list","string"]`. Throws when the text is not a known type. */
export function parseType(json: string): CtyType {
  return typeFromJson(JSON.parse(json))
}

export function typeFromJson(json: unknown): CtyType {
  if (json === 'string' || json === 'number' || json === 'bool' || json === 'dynamic') return json
  if (Array.isArray(json)) {
    const [kind, argument] = json
    if (kind === 'list' || kind === 'set' || kind === 'map') return { kind, element: typeFromJson(argument) }
    if (kind === 'tuple' && Array.isArray(argument)) return tupleOf(argument.map(typeFromJson))
    if (kind === 'object' && typeof argument === 'object' && argument !== null) {
      return objectOf(Object.fromEntries(Object.entries(argument).map(([name, type]) => [name, typeFromJson(type)])))
    }
  }
  throw new Error(`unknown Terraform type ${JSON.stringify(json)}`)
}

/** The inverse of typeFromJson, with attribute names in order. */
export function typeToJson(type: CtyType): unknown {
  if (typeof type === 'string') return type
  switch (type.kind) {
    case 'object':
      return ['object', Object.fromEntries(sortedEntries(type.attributes).map(([name, of]) => [name, typeToJson(of)]))]
    case 'tuple':
      return ['tuple', type.elements.map(typeToJson)]
    default:
      return [type.kind, typeToJson(type.element)]
  }
}

/** True when a value of the type may carry a type of its own somewhere inside. */
export function hasDynamic(type: CtyType): boolean {
  if (typeof type === 'string') return type === 'dynamic'
  switch (type.kind) {
    case 'object':
      return Object.values(type.attributes).some(hasDynamic)
    case 'tuple':
      return type.elements.some(hasDynamic)
    default:
      return hasDynamic(type.element)
  }
}

/** Go iterates over sorted names; so does everything here, for equal bytes. */
export function sortedEntries<T>(record: Readonly<Record<string, T>>): [string, T][] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
}
