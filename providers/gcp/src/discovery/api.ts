/** An API as its discovery document describes it, without the parts that neither the kinds nor the emulator need. */
export interface Api {
  readonly name: string
  readonly version: string
  readonly revision: string
  readonly host: string
  /** The path before that of every method, with slashes at both ends. */
  readonly base: string
  readonly methods: Readonly<Record<string, Method>>
  readonly schemas: Readonly<Record<string, Properties>>
}

export interface Method {
  readonly http: string
  /** A URI template below the base: `projects/{project}/global/networks`, `v1/{+name}`. */
  readonly path: string
  readonly params?: Readonly<Record<string, Parameter>>
  /** The schemas of the request body and of the response body. */
  readonly request?: string
  readonly response?: string
}

export interface Parameter {
  readonly in?: 'path'
  /** Absent: string. */
  readonly type?: string
  readonly format?: string
  readonly required?: boolean
  readonly pattern?: string
  readonly enum?: readonly string[]
  readonly repeated?: boolean
}

export type Properties = Readonly<Record<string, Property>>

export interface Property {
  /** Absent: string, or the schema that `ref` names. */
  readonly type?: 'integer' | 'number' | 'boolean' | 'array' | 'object' | 'any'
  readonly ref?: string
  readonly format?: string
  readonly enum?: readonly string[]
  readonly pattern?: string
  readonly items?: Property
  /** The values of a map. */
  readonly values?: Property
  /** The fields of an object without a name of its own. */
  readonly fields?: Properties
  /** The API reports it and does not accept it. */
  readonly output?: boolean
  /** The API accepts it and does not report it. */
  readonly inputOnly?: boolean
  readonly deprecated?: boolean
  /** The methods that require it. */
  readonly required?: readonly string[]
  readonly doc?: string
}

/** The fields of an object property; undefined for anything else. */
export function fieldsOf(api: Api, property: Property): Properties | undefined {
  return property.ref === undefined ? property.fields : api.schemas[property.ref]
}

/**
 * Numbers of 64 bits travel as strings. Kinds have them as numbers. Unsigned ones are identifiers, which numbers of JavaScript
 * cannot hold, and stay strings.
 */
export const isLongInteger = ({ format }: Property): boolean => format === 'int64'

/** The method of an API. Throws for a name that the discovery document does not have. */
export function methodOf(api: Api, name: string): Method {
  const method = api.methods[name]
  if (!method) throw new Error(`${api.name} ${api.version} has no method ${name}`)
  return method
}
