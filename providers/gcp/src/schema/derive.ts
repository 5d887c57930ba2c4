import { type Fields, type Schema, s } from '@crosstie/resources/provider'
import { type Api, fieldsOf, isLongInteger, type Properties, type Property } from '../discovery/api.js'

/** The facts about fields that a discovery document does not state. Fields are named by path, such as `settings.tier`. */
export interface Overlay {
  /** Fields that the kind does not have, each with the reason. */
  readonly leftOut?: Readonly<Record<string, string>>
  /** Fields that the API only reports, although the document does not say so. */
  readonly observed?: readonly string[]
  /** Deprecated fields that the kind has nevertheless. */
  readonly kept?: readonly string[]
  readonly immutable?: readonly string[]
  readonly required?: readonly string[]
  /** Fields that the API accepts and does not report. */
  readonly unreported?: readonly string[]
  /** Lists in which order does not matter. */
  readonly sets?: readonly string[]
  /** Fields that stay open where the spec leaves them open. `*`: all of them. */
  readonly open?: readonly string[]
  /** Fields that the kind declares itself: references, secrets, links. */
  readonly declared?: Readonly<Record<string, Schema>>
}

export interface Derived {
  readonly parameters: Fields
  readonly observation: Fields
  /** Paths of fields that the kind does not have, by reason. */
  readonly leftOut: ReadonlyMap<string, readonly string[]>
}

const DEPRECATED = 'deprecated by the API'
const EXPANSION_MAX = 12

/** The fields of a kind, as the discovery document describes the resource. */
export function deriveFields(api: Api, schema: string, overlay: Overlay): Derived {
  const leftOut = new Map<string, string[]>()
  const derivation = new Derivation(api, overlay, leftOut)
  const properties = api.schemas[schema] ?? {}
  return {
    parameters: derivation.fields(properties, '', 'parameters'),
    observation: derivation.fields(properties, '', 'observation'),
    leftOut,
  }
}

type Side = 'parameters' | 'observation'

class Derivation {
  constructor(
    private readonly api: Api,
    private readonly overlay: Overlay,
    private readonly leftOut: Map<string, string[]>,
  ) {}

  fields(properties: Properties, parent: string, side: Side): Fields {
    const fields: Record<string, Schema> = {}
    for (const [name, property] of Object.entries(properties)) {
      const path = parent === '' ? name : `${parent}.${name}`
      const field = this.field(property, path, side)
      if (field) fields[name] = field
    }
    return fields
  }

  private field(property: Property, path: string, side: Side): Schema | undefined {
    if (this.isLeftOut(property, path, side)) return undefined
    const { declared = {}, required = [] } = this.overlay
    const own = declared[path]
    if (own) return side === 'parameters' ? own : undefined
    if (this.isOutput(property, path)) return side === 'observation' ? this.schema(property, path, 'report') : undefined
    if (side === 'observation') return this.outputBelow(property, path)
    const schema = this.schema(property, path, 'request')
    if (!schema) return undefined
    return required.includes(path) ? schema : s.optional(schema)
  }

  private isLeftOut(property: Property, path: string, side: Side): boolean {
    const { leftOut = {}, kept = [], declared = {} } = this.overlay
    const reason = leftOut[path] ?? (property.deprecated && !kept.includes(path) ? DEPRECATED : undefined)
    if (reason === undefined || declared[path]) return false
    if (side === 'parameters') {
      const paths = this.leftOut.get(reason) ?? []
      if (!paths.includes(path)) this.leftOut.set(reason, [...paths, path])
    }
    return true
  }

  private isOutput(property: Property, path: string): boolean {
    return property.output === true || (this.overlay.observed ?? []).includes(path)
  }

  /** An object that can be configured may have fields that are only reported. */
  private outputBelow(property: Property, path: string): Schema | undefined {
    const properties = fieldsOf(this.api, property)
    if (!properties || path.split('.').length > EXPANSION_MAX) return undefined
    const fields = this.fields(properties, path, 'observation')
    return Object.keys(fields).length > 0 ? s.object(fields, { doc: property.doc ?? '' }) : undefined
  }

  /** `report`: all fields below are reported, those that can be configured elsewhere too. */
  private schema(property: Property, path: string, use: 'request' | 'report'): Schema | undefined {
    const options = this.optionsOf(property, path, use)
    switch (property.type) {
      case 'integer':
        return s.integer(options)
      case 'number':
        return s.number(options)
      case 'boolean':
        return s.boolean(options)
      case 'array':
        return this.list(property, path, use)
      case 'any':
        return s.json(options)
      default:
        return this.structure(property, path, use)
    }
  }

  private structure(property: Property, path: string, use: 'request' | 'report'): Schema | undefined {
    const options = this.optionsOf(property, path, use)
    const properties = fieldsOf(this.api, property)
    if (properties) {
      const fields = use === 'request' ? this.fields(properties, path, 'parameters') : this.all(properties, path)
      return Object.keys(fields).length > 0 || Object.keys(properties).length === 0
        ? s.object(fields, options)
        : undefined
    }
    if (property.values) return s.map(this.item(property.values, path, use), options)
    if (property.type === 'object') return s.json(options)
    if (isLongInteger(property)) return s.integer(options)
    return s.string({ ...options, ...(use === 'request' && property.enum ? { enum: property.enum } : {}) })
  }

  private list(property: Property, path: string, use: 'request' | 'report'): Schema {
    const options = this.optionsOf(property, path, use)
    const set = (this.overlay.sets ?? []).includes(path)
    return s.list(this.item(property.items ?? {}, path, use), { ...options, ...(set ? { set } : {}) })
  }

  private item(property: Property, path: string, use: 'request' | 'report'): Schema {
    return this.schema(property, path, use) ?? s.json()
  }

  private all(properties: Properties, parent: string): Fields {
    const fields: Record<string, Schema> = {}
    for (const [name, property] of Object.entries(properties)) {
      const path = `${parent}.${name}`
      if (this.isLeftOut(property, path, 'observation')) continue
      const schema = this.schema(property, path, 'report')
      if (schema) fields[name] = schema
    }
    return fields
  }

  private optionsOf({ doc = '', inputOnly }: Property, path: string, use: 'request' | 'report') {
    if (use === 'report') return { doc }
    const { immutable = [], unreported = [], open = [] } = this.overlay
    return {
      doc,
      // Google omits false, 0 and empty values from its responses.
      omittedWhenZero: true,
      ...(covers(immutable, path) ? { immutable: true } : {}),
      ...(inputOnly || unreported.includes(path) ? { unreported: true } : {}),
      ...(covers(open, path) ? { lateInitialize: false as const } : {}),
    }
  }
}

/** Whether a list of paths names this one, one above it, or all. */
function covers(paths: readonly string[], path: string): boolean {
  return paths.some((each) => each === '*' || path === each || path.startsWith(`${each}.`))
}
