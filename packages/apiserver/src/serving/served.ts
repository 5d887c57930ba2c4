import { compileRules, type Rules } from '@crosstie/cel'
import { apiVersionOf, type KubeObject, parseApiVersion, type ResourceType } from '@crosstie/kube'
import { FieldManager } from '@crosstie/kube/patch'
import { type CompiledSchema, compileSchema } from '@crosstie/kube/schema'
import type { Definition, Version } from '../definitions/definition.js'
import type { Stored } from '../store/store.js'

/** An object in one version of the API, with its JSON when that is available. */
export interface View {
  readonly object: KubeObject
  readonly bytes: Uint8Array | undefined
}

/**
 * One version of one kind: the target of a URL. Expensive parts are compiled on first use, because most kinds are
 * never used.
 */
export class Served {
  readonly definition: Definition
  readonly version: Version
  readonly type: ResourceType
  readonly apiVersion: string
  /** The prefix of its keys in the store. */
  readonly prefix: string
  /** Objects whose form differs from the stored one. */
  readonly #views = new WeakMap<Stored, View>()
  #statusSchema: CompiledSchema | undefined
  #rules: Rules | undefined | null = null

  constructor(definition: Definition, version: Version) {
    this.definition = definition
    this.version = version
    this.type = {
      group: definition.group,
      version: version.name,
      kind: definition.names.kind,
      resource: definition.names.plural,
      namespaced: definition.namespaced,
    }
    this.apiVersion = apiVersionOf(this.type)
    this.prefix = prefixOf(definition)
  }

  get isStorage(): boolean {
    return this.version.name === this.definition.storage && !this.definition.sharedWith
  }

  get schema(): CompiledSchema {
    return compiled(this.version)
  }

  get statusSchema(): CompiledSchema {
    this.#statusSchema ??= compileSchema(this.version.schema?.properties?.['status'] ?? anything)
    return this.#statusSchema
  }

  get rules(): Rules | undefined {
    if (this.#rules === null) this.#rules = this.version.schema ? compileRules(this.version.schema) : undefined
    return this.#rules
  }

  /** The field manager of all versions of the kind. */
  get fields(): FieldManager {
    let fields = fieldManagers.get(this.definition)
    if (!fields) {
      fields = fieldManagerOf(this.definition)
      fieldManagers.set(this.definition, fields)
    }
    return fields
  }

  key(namespace: string, name: string): string {
    return this.definition.namespaced ? `${this.prefix}${namespace}/${name}` : this.prefix + name
  }

  /**
   * Returns the stored object in this version. The schema may have changed since the write, so the object is pruned
   * and gets defaults here, too. When this changes nothing, the stored bytes are used.
   */
  view(stored: Stored): View | Promise<View> {
    if (stored.shownBy === this) return stored
    if (!this.definition.strategy.shapesOnRead) return this.#asStored(stored)
    const known = this.#views.get(stored)
    if (known) return known
    const read = this.#read(stored.object)
    if (read.apiVersion === this.apiVersion) return this.#remember(stored, read)
    if (!this.definition.convert) return this.#remember(stored, this.fit({ ...read, apiVersion: this.apiVersion }))
    return this.#convert([stored]).then(([view]) => view!)
  }

  /** For GET: converts again instead of using an earlier result of the conversion webhook. */
  fresh(stored: Stored): View | Promise<View> {
    if (!this.definition.convert || stored.object.apiVersion === this.apiVersion) return this.view(stored)
    return this.#convert([stored]).then(([view]) => view!)
  }

  /** Returns many objects. A conversion webhook is called once for all. */
  views(stored: readonly Stored[]): readonly View[] | Promise<readonly View[]> {
    if (!this.definition.strategy.shapesOnRead && this.isStorage) return stored
    if (!this.definition.convert) return stored.map((one) => this.view(one) as View)
    const known = (one: Stored) => one.shownBy === this || this.#views.has(one)
    const foreign = stored.filter((one) => !known(one) && one.object.apiVersion !== this.apiVersion)
    const all = () => stored.map((one) => this.view(one) as View)
    return foreign.length === 0 ? all() : this.#convert(foreign).then(all)
  }

  /** The object as it is stored, or as a view of an object of another group. */
  #asStored(stored: Stored): View {
    const { sharedWith } = this.definition
    if (!sharedWith) return stored
    return this.#views.get(stored) ?? this.#remember(stored, sharedWith.fromShared(stored.object))
  }

  async #convert(stored: readonly Stored[]): Promise<View[]> {
    const objects = stored.map(({ object }) => this.#read(object))
    const converted = await this.definition.convert!(objects, this.version.name)
    return stored.map((one, i) => this.#remember(one, this.fit(converted[i]!)))
  }

  /** Prunes an object that was converted to this version. Defaults are part of the conversion. */
  fit(object: KubeObject): KubeObject {
    return compiled(this.version).shape(object, { drop: true, defaults: false }).object
  }

  #remember(stored: Stored, object: KubeObject): View {
    // An unchanged object is shown as stored, so that its parsed form can be evicted and parsed again.
    if (object === stored.object) {
      stored.shownBy = this
      return stored
    }
    const view = { object, bytes: undefined }
    this.#views.set(stored, view)
    return view
  }

  /** Returns the object in the shape of the version in which it was written. */
  #read(object: KubeObject): KubeObject {
    const { versions, storageVersion } = this.definition
    const name = parseApiVersion(object.apiVersion)?.version
    const written = versions.find((version) => version.name === name) ?? storageVersion ?? this.version
    return compiled(written).shape(object, { drop: true }).object
  }
}

const schemas = new WeakMap<Version, CompiledSchema>()

function compiled(version: Version): CompiledSchema {
  let schema = schemas.get(version)
  if (!schema) {
    schema = compileSchema(version.schema ?? anything)
    schemas.set(version, schema)
  }
  return schema
}

const fieldManagers = new WeakMap<Definition, FieldManager>()

function fieldManagerOf({ group, names, versions, storageVersion, strategy, convert }: Definition): FieldManager {
  const all = [...versions, ...(storageVersion ? [storageVersion] : [])]
  return new FieldManager({
    kind: names.kind,
    versions: Object.fromEntries(all.map(({ name, schema }) => [apiVersionOf({ group, version: name }), schema])),
    empty: strategy.empty,
    convert:
      convert &&
      (async (object, apiVersion) => (await convert([object], parseApiVersion(apiVersion)?.version ?? ''))[0]!),
  })
}

const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const

function prefixOf({ group, names, sharedWith }: Pick<Definition, 'group' | 'names' | 'sharedWith'>): string {
  return `/${sharedWith?.group ?? group}/${names.plural}/`
}
