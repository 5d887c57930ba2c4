import { apiVersionOf, type KubeObject, parseApiVersion, type ResourceType } from '@crosstie/kube'
import { compileRules, type Rules } from '@crosstie/kube/cel'
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
  /** What differs from what is stored, and what is known not to. */
  readonly #views = new WeakMap<Stored, View>()
  #schema: CompiledSchema | undefined
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
    this.#schema ??= compileSchema(this.version.schema ?? anything)
    return this.#schema
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
    if (this.isStorage && !this.definition.crd) return stored
    const known = this.#views.get(stored)
    if (known) return known
    if (this.isStorage || !this.definition.convert) return this.#remember(stored, this.#shown(stored.object))
    return this.#convert([stored]).then(([view]) => view!)
  }

  /** Many at once: kinds that are converted elsewhere are asked once for all. */
  views(stored: readonly Stored[]): readonly View[] | Promise<readonly View[]> {
    if (this.isStorage && !this.definition.crd) return stored
    if (this.isStorage || !this.definition.convert) return stored.map((one) => this.view(one) as View)
    const missing = stored.filter((one) => !this.#views.has(one))
    const all = () => stored.map((one) => this.#views.get(one)!)
    return missing.length === 0 ? all() : this.#convert(missing).then(all)
  }

  /** Where versions differ in name only, or a kind shows what another group keeps. */
  #shown(object: KubeObject): KubeObject {
    if (this.isStorage) return object
    return this.definition.sharedWith?.fromShared(object) ?? { ...object, apiVersion: this.apiVersion }
  }

  async #convert(stored: readonly Stored[]): Promise<View[]> {
    const objects = stored.map(({ object }) => object)
    const converted = await this.definition.convert!(objects, this.version.name)
    return stored.map((one, i) => this.#remember(one, converted[i]!))
  }

  #remember(stored: Stored, object: KubeObject): View {
    const read = this.definition.crd ? this.#read(object) : object
    // What needs no change is shown as it is stored, so that its parsed form may be forgotten and made again.
    const view = read === stored.object ? stored : { object: read, bytes: undefined }
    this.#views.set(stored, view)
    return view
  }

  #read(object: KubeObject): KubeObject {
    return this.schema.shape(object, { drop: true }).object
  }
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

export function prefixOf({ group, names, sharedWith }: Pick<Definition, 'group' | 'names' | 'sharedWith'>): string {
  return `/${sharedWith?.group ?? group}/${names.plural}/`
}
