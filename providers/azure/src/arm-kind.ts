import type { KubeObject } from '@crosstie/kube'
import {
  absent,
  type ConnectionDetails,
  type CreateCall,
  defineManaged,
  type ExternalCall,
  type Fields,
  type ManagedKind,
  type ObjectSchema,
  type ObserveCall,
  type Permissions,
  type Present,
  present,
  type UpdateCall,
} from '@crosstie/resources/provider'
import { type AzureClient, connect } from './client.js'
import { providerConfig } from './config.js'
import { unlessNotFound } from './errors.js'
import { begun, followOperation, type UnderWay } from './operations.js'
import { picked } from './pick.js'
import { at, defined, merged, textOf, type Values, valuesOf, without } from './values.js'

/** A kind of Azure Resource Manager: all of them are read, written and deleted in the same way. */
export interface ArmKind {
  /** The service: the first word of the API group. */
  readonly service: string
  readonly kind: string
  readonly plural?: string
  readonly alsoServed?: readonly string[]
  readonly doc: string
  /** Such as `Microsoft.Network/virtualNetworks/subnets`. */
  readonly type: string
  readonly apiVersion: string
  readonly parameters: ObjectSchema<Fields>
  readonly observation: ObjectSchema<Fields>
  /** Fields that hold the names of the parents, outermost first. */
  readonly parents?: readonly string[]
  /**
   * `nested`: the field `properties` is that of Azure. Otherwise the members of Azure's `properties` are fields of the kind,
   * and these are the fields that stand beside `properties`.
   */
  readonly layout: 'nested' | readonly string[]
  readonly hasTags?: boolean
  /** Members of the body that are always the same. */
  readonly fixed?: Values
  /** Where the answer has its state, and the states in which the resource can be used. */
  readonly state?: { readonly path: string; readonly usable: readonly string[] }
  /** Fields of this kind that Azure has under another path of its body. */
  readonly moved?: Readonly<Record<string, string>>
  /** Sends what an update must not lose: values that Azure removes when a PUT does not name them. */
  readonly kept?: (current: Values) => Values
  /** Adds to the permissions. */
  readonly more?: Permissions
  connection?(found: {
    readonly body: Values
    readonly given: Values
    readonly managed: KubeObject | undefined
    readonly client: AzureClient
    readonly id: string
    readonly signal: AbortSignal
  }): Promise<ConnectionDetails> | ConnectionDetails
}

type AnyCall = Pick<ExternalCall<object, AzureClient>, 'client' | 'externalName' | 'forProvider' | 'signal'>

/** Builds a kind from its description. */
export function defineArmKind(given: ArmKind): ManagedKind {
  const arm = new Arm(given)
  const { service, kind, type } = given
  return defineManaged<Fields, Fields, AzureClient>({
    group: `${service}.azure.crossplane.io`,
    version: 'v1beta1',
    kind,
    ...(given.plural ? { plural: given.plural } : {}),
    ...(given.alsoServed ? { alsoServed: given.alsoServed } : {}),
    doc: `${given.doc} API version ${given.apiVersion} of ${type}. This kind has not run on the real cloud yet.`,
    categories: ['crossplane', 'managed', 'azure'],
    parameters: given.parameters,
    observation: given.observation,
    naming: 'user-chosen',
    ...(given.hasTags ? { tags: { field: 'tags', keys: 'dashes' } as const } : {}),
    identifiedBy: (forProvider) => [arm.below(valuesOf(forProvider))],
    providerConfig,
    permissions: permissionsOf(given),
    connect,
    observe: (call) => arm.observe(call),
    create: (call) => arm.create(call),
    update: (call) => arm.update(call),
    delete: (call) => arm.delete(call),
    list: (call) => arm.list(call),
  })
}

function permissionsOf({ type, more = {} }: Pick<ArmKind, 'type' | 'more'>): Permissions {
  const actions = (verb: 'read' | 'write' | 'delete') =>
    `${type === RESOURCE_GROUP ? 'Microsoft.Resources/subscriptions/resourceGroups' : type}/${verb}`
  return {
    Observe: [actions('read'), ...(more.Observe ?? [])],
    Create: [actions('write'), ...(more.Create ?? [])],
    Update: [actions('read'), actions('write'), ...(more.Update ?? [])],
    Delete: [actions('delete'), ...(more.Delete ?? [])],
    LateInitialize: [],
  }
}

const RESOURCE_GROUP = 'Microsoft.Resources/resourceGroups'

class Arm {
  readonly #kind: ArmKind
  readonly #fields: Values

  constructor(kind: ArmKind) {
    this.#kind = kind
    this.#fields = kind.parameters.fields
  }

  async observe(call: ObserveCall<object, AzureClient>): Promise<Present<Values> | typeof absent> {
    const { client, externalName, managed, signal } = call
    if (externalName === '') return absent
    const id = this.#id(call)
    const underWay = await followOperation(client, id, managed, signal)
    const body = await this.#get(call)
    if (!body) return underWay?.verb === 'create' ? this.#coming(call, underWay) : absent
    return await this.#seen(call, body, underWay, managed)
  }

  async create(call: CreateCall<object, AzureClient>) {
    const { client, signal } = call
    const id = this.#id(call)
    const given = { ...call.forProvider, ...(this.#kind.hasTags ? { tags: call.tags } : {}) }
    const answer = await client.send({
      ...this.#request(id),
      method: 'PUT',
      body: this.#bodyOf(given),
      action: this.#action('write'),
      signal,
    })
    const underWay = begun(client, id, 'create', answer)
    const connection = await this.#connection(call, answer.body, call.managed)
    return { connection, ...(underWay ? { observed: this.#coming(call, underWay) } : {}) }
  }

  /** Azure replaces the whole resource: values that the spec leaves open are sent as they are. */
  async update(call: UpdateCall<object, AzureClient>) {
    const { client, signal, removed } = call
    const id = this.#id(call)
    const current = await this.#get(call)
    if (!current) throw new Error(`${id} no longer exists; the next reconciliation creates it`)
    const known = picked(this.#kind.parameters.node, this.#report(call, current))
    const wanted = merged(valuesOf(known), valuesOf(call.forProvider))
    const tags = without(
      { ...valuesOf(current['tags']), ...valuesOf(at(call.changed, 'tags')) },
      ...(removed['tags'] ?? []),
    )
    const body = merged(
      this.#bodyOf({ ...wanted, ...(this.#kind.hasTags ? { tags } : {}) }),
      this.#kind.kept?.(current) ?? {},
    )
    const etag = textOf(current['etag'])
    const headers = etag && this.#kind.kept ? { 'If-Match': etag } : undefined
    const withTags = this.#kind.hasTags ? { ...body, tags } : body
    const answer = await client.send({
      ...this.#request(id),
      method: 'PUT',
      body: withTags,
      action: this.#action('write'),
      signal,
      ...(headers ? { headers } : {}),
    })
    begun(client, id, 'update', answer)
    return { connection: await this.#connection(call, current, call.managed) }
  }

  async delete(call: ExternalCall<object, AzureClient>): Promise<void> {
    const { client, managed, signal } = call
    const id = this.#id(call)
    const underWay = await followOperation(client, id, managed, signal)
    if (underWay?.verb === 'delete') return
    const answer = await unlessNotFound(
      client.send({ ...this.#request(id), method: 'DELETE', action: this.#action('delete'), signal }),
    )
    if (answer) begun(client, id, 'delete', answer)
  }

  async list(call: Pick<AnyCall, 'client' | 'forProvider' | 'signal'>): Promise<readonly Present<Values>[]> {
    const { client, forProvider, signal } = call
    const path = this.#base(client, valuesOf(forProvider))
    const request = { path, apiVersion: this.#kind.apiVersion, action: this.#action('read'), signal }
    const found = (await unlessNotFound(client.list(request))) ?? []
    return await Promise.all(
      found.map(async (body) => {
        const externalName = (textOf(body['name']) ?? '').split('/').at(-1) ?? ''
        return await this.#seen({ client, externalName, forProvider, signal }, body, undefined, undefined)
      }),
    )
  }

  /** The path of the resources of this kind below the subscription. */
  below(forProvider: Values): string {
    const { type, parents = [] } = this.#kind
    if (type === RESOURCE_GROUP) return '/resourceGroups'
    const [namespace = '', ...types] = type.split('/')
    const pairs = types.flatMap((each, i) => [each, ...(parents[i] ? [encoded(forProvider[parents[i]])] : [])])
    return `/resourceGroups/${encoded(forProvider['resourceGroupName'])}/providers/${namespace}/${pairs.join('/')}`
  }

  #base(client: AzureClient, forProvider: Values): string {
    return `/subscriptions/${client.subscription}${this.below(forProvider)}`
  }

  #id({ client, externalName, forProvider }: AnyCall): string {
    return `${this.#base(client, valuesOf(forProvider))}/${encodeURIComponent(externalName)}`
  }

  #request(path: string) {
    return { path, apiVersion: this.#kind.apiVersion }
  }

  #action(verb: 'read' | 'write' | 'delete'): string {
    const type =
      this.#kind.type === RESOURCE_GROUP ? 'Microsoft.Resources/subscriptions/resourceGroups' : this.#kind.type
    return `${type}/${verb}`
  }

  async #get(call: AnyCall): Promise<Values | undefined> {
    const request = {
      ...this.#request(this.#id(call)),
      method: 'GET' as const,
      action: this.#action('read'),
      signal: call.signal,
    }
    return (await unlessNotFound(call.client.send(request)))?.body
  }

  /** Accepted by Azure, and not visible yet. */
  #coming({ externalName, forProvider }: AnyCall, underWay: UnderWay): Present<Values> {
    const atProvider = { ...this.#places(valuesOf(forProvider)), operation: { verb: underWay.verb, url: underWay.url } }
    return present({ externalName, atProvider, upToDate: true })
  }

  async #seen(
    call: AnyCall,
    body: Values,
    underWay: UnderWay | undefined,
    managed: KubeObject | undefined,
  ): Promise<Present<Values>> {
    const { path = 'properties.provisioningState', usable = ['Succeeded'] } = this.#kind.state ?? {}
    const state = textOf(at(body, path))
    const isUsable = state === undefined || usable.includes(state)
    const message = `its state is ${state}`
    const atProvider = {
      ...this.#report(call, body),
      ...(underWay ? { operation: { verb: underWay.verb, url: underWay.url } } : {}),
    }
    return present({
      externalName: call.externalName,
      ready: isUsable ? true : { type: 'Ready', status: 'False', reason: 'Unavailable', message },
      atProvider: valuesOf(picked(this.#kind.parameters.node, atProvider, this.#kind.observation.node)),
      connection: await this.#connection(call, body, managed),
      // Until Azure is done, a comparison would see the old values and repeat the update.
      ...(underWay ? { upToDate: true } : {}),
    })
  }

  async #connection(call: AnyCall, body: Values, managed: KubeObject | undefined): Promise<ConnectionDetails> {
    const { client, signal } = call
    const given = valuesOf(call.forProvider)
    return (await this.#kind.connection?.({ body, given, managed, client, id: this.#id(call), signal })) ?? {}
  }

  /** The fields that say where the resource is. */
  #places(forProvider: Values): Values {
    const names = ['resourceGroupName', ...(this.#kind.parents ?? [])]
    return defined(
      Object.fromEntries(names.filter((name) => name in this.#fields).map((name) => [name, forProvider[name]])),
    )
  }

  /** The answer under the names of the kind. */
  #report({ forProvider }: AnyCall, body: Values): Values {
    const { layout, moved = {} } = this.#kind
    const flat = layout === 'nested' ? { properties: body['properties'] } : valuesOf(body['properties'])
    const elsewhere = Object.entries(moved).map(([field, path]) => [field, at(body, path)])
    return defined({
      ...flat,
      ...without(body, 'properties', 'name', 'type', 'etag', 'systemData'),
      ...Object.fromEntries(elsewhere),
      ...this.#places(valuesOf(forProvider)),
    })
  }

  /** Only the fields of the kind: references and selectors stand beside them in the spec. */
  #bodyOf(spec: Values): Values {
    const { layout, moved = {}, parameters } = this.#kind
    const given = valuesOf(picked(parameters.node, spec))
    const places = Object.keys(this.#places(given))
    const rest = without(given, ...places, ...Object.keys(moved))
    const placed = Object.entries(moved).reduce<Values>(
      (body, [field, path]) => (given[field] === undefined ? body : merged(body, nestedAt(path, given[field]))),
      {},
    )
    if (layout === 'nested') return merged(rest, placed)
    const envelope = Object.fromEntries(Object.entries(rest).filter(([name]) => layout.includes(name)))
    return merged({ ...this.#kind.fixed, ...envelope, properties: without(rest, ...layout) }, placed)
  }
}

const encoded = (value: unknown): string => encodeURIComponent(textOf(value) ?? '')

const nestedAt = (path: string, value: unknown): Values => {
  const names = path.split('.')
  return valuesOf(names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value))
}
