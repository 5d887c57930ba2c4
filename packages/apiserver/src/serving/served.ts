import { compileRules, type Rules } from '@crosstie/cel'
import { apiVersionOf, type KubeObject, parseApiVersion, type ResourceType } from '@crosstie/kube'
import { FieldManager } from '@crosstie/kube/patch'
import { type CompiledSchema, compileSchema } from '@crosstie/kube/schema'
import type { Definition, Version } from '../definitions/definition.js'
import type { Stored } from '../store/store.js'

/** An object as one version of the API shows it, with its JSON when that is at hand. */
export interface View {
  readonly object: KubeObject
  readonly bytes: Uint8Array | undefined
}

/**
 * One version of one kind, ready to be asked for: what a URL resolves to.
 * Everything dear is compiled on first use, since most kinds are never used.
 */
export class Served {
  readonly definition: Definition
  readonly version: Version
  readonly type: ResourceType
  readonly apiVersion: string
  /** Where its objects lie in the store. */
  readonly prefix: string
  /** What differs from what is stored. */
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

  /** Who owns which field: one for all versions of the kind. */
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
   * The stored object as this version shows it. A CRD's schema may have changed
   * since the object was written, so fields are dropped and defaults filled in
   * on the way out too; when that changes nothing, the stored bytes serve as they are.
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

  /** For GET: what a webhook made of an object once is not taken for what it makes of it now. */
  fresh(stored: Stored): View | Promise<View> {
    if (!this.definition.convert || stored.object.apiVersion === this.apiVersion) return this.view(stored)
    return this.#convert([stored]).then(([view]) => view!)
  }

  /** Many at once: kinds that are converted elsewhere are asked once for all. */
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

  /** An object that was converted to this version keeps what the version knows; defaults it brought along. */
  fit(object: KubeObject): KubeObject {
    return compiled(this.version).shape(object, { drop: true, defaults: false }).object
  }

  #remember(stored: Stored, object: KubeObject): View {
    // What needs no change is shown as it is stored, so that its parsed form may be forgotten and made again.
    if (object === stored.object) {
      stored.shownBy = this
      return stored
    }
    const view = { object, bytes: undefined }
    this.#views.set(stored, view)
    return view
  }

  /** In the shape of the version that it was written in. */
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
