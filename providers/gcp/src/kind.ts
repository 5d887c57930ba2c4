import type { Condition } from '@crosstie/kube'
import {
  absent,
  type ConnectionDetails,
  type CreateCall,
  type Difference,
  defineManaged,
  type Fields,
  type ManagedKind,
  type Permissions,
  present,
  s,
  type UpdateCall,
} from '@crosstie/resources/provider'
import type { GoogleClient, Parameters } from './client/client.js'
import { connectTo } from './client/connect.js'
import { troubleOf, unlessNotFound } from './client/errors.js'
import { awaitOperation, type OperationForm } from './client/operations.js'
import { permissionOf } from './client/permissions.js'
import { providerConfig } from './config.js'
import type { Api } from './discovery/api.js'
import { fromApi, toApi, type Values, withValue } from './schema/convert.js'
import { type Derived, deriveFields, type Overlay } from './schema/derive.js'
import { allowedValue, type LabelStore, type Labels } from './schema/labels.js'

export type ForProvider = Readonly<Record<string, unknown>>

/** One request of an update, and its operation. */
export interface Step {
  readonly method: string
  readonly params: Parameters
  readonly body?: object
}

export interface GoogleUpdate {
  readonly client: GoogleClient
  readonly name: string
  readonly forProvider: ForProvider
  /** The fields that differ, as the API takes them. Labels are part of it when they differ. */
  readonly changed: Values
  /** The resource as it is, as the API reports it. */
  readonly found: Values
  /** Names of the fields of the kind that differ, without what is below them. */
  readonly fields: ReadonlySet<string>
}

export interface GoogleDefinition {
  readonly api: Api
  /** The schema of the resource. */
  readonly schema: string
  readonly group: string
  readonly kind: string
  readonly doc: string
  readonly overlay: Overlay
  /** Fields beside those of the API: the place of the resource, its labels. */
  readonly fields: Fields
  /** Fields that the API only reports, beside those of the document. */
  readonly observation?: Fields
  readonly labels: LabelStore
  readonly operations: OperationForm
  /** The resource in the API. */
  readonly methods: {
    readonly get: string
    readonly create: string
    readonly delete: string
    readonly list: string
    /** The field of a page of the list that holds the resources. */
    readonly items: string
  }
  readonly permissions: Permissions
  readonly token?: boolean
  readonly consistencySeconds?: number

  /** The parameters that name a resource. */
  place(client: GoogleClient, name: string, forProvider: ForProvider): Parameters
  /** The parameters of the list. */
  parent(client: GoogleClient, forProvider: ForProvider): Parameters
  /** The request that creates a resource. */
  create(client: GoogleClient, name: string, body: Values, call: CreateCall<ForProvider, GoogleClient>): Step
  /** The requests that bring a resource in line. Each starts when the operation of the one before is done. */
  update(update: GoogleUpdate): readonly Step[]
  /** More parameters of a delete, or requests that come before it. */
  delete?(found: Values | undefined, forProvider: ForProvider): { readonly params?: Parameters }
  /** Location or region, where operations are read. */
  location(forProvider: ForProvider): string
  nameOf(found: Values): string
  ready(found: Values, forProvider: ForProvider): boolean | Condition
  /** Whether a resource that is still reported counts as deleted. */
  isGone?(found: Values): boolean
  /** Changes the reported values into those of the kind. */
  report?(values: Values, found: Values): Values
  connection?(found: Values, forProvider: ForProvider, client: GoogleClient): ConnectionDetails
  /** More connection details, which need a request of their own. */
  secrets?(client: GoogleClient, found: Values, signal: AbortSignal): Promise<ConnectionDetails>
  /** Differences that the fields do not show. */
  alsoDiffers?(found: Values, forProvider: ForProvider): readonly Difference[]
  /** The connection of a new resource: values that the API never reports. */
  createdConnection?(forProvider: ForProvider): ConnectionDetails
}

export const projectField = () =>
  s.optional(
    s.string({ doc: 'Project that it belongs to. Absent: the project of the ProviderConfig.', immutable: true }),
  )

const NOT_RUN = 'It has not run on the real Google Cloud, only against the emulator.'

/** A kind of managed resource whose fields and requests come from a discovery document. */
export function defineGoogle(definition: GoogleDefinition): ManagedKind {
  const { api, schema, labels } = definition
  const derived = deriveFields(api, schema, definition.overlay)
  const own = { project: projectField(), ...definition.fields }
  const resource = new Resource(definition, Object.keys(own))
  return defineManaged({
    group: `${definition.group}.gcp.crossplane.io`,
    version: 'v1beta1',
    kind: definition.kind,
    doc: `${definition.doc} Fields are those of ${api.name} ${api.version}. ${NOT_RUN} ${leftOutText(derived)}`.trim(),
    categories: ['crossplane', 'managed', 'gcp'],
    parameters: s.object<Fields>({ ...own, ...without(derived.parameters, own) }),
    observation: s.object<Fields>({ ...without(derived.observation, own), ...definition.observation }),
    derived: true,
    naming: 'user-chosen',
    token: definition.token ?? false,
    tags: { field: labels.field, keys: 'dashes' },
    identifiedBy: ({ project }) => [project],
    ...(definition.consistencySeconds === undefined ? {} : { consistencySeconds: definition.consistencySeconds }),
    providerConfig,
    permissions: { ...definition.permissions, LateInitialize: [] },
    connect: connectTo(api),
    async observe({ client, externalName, forProvider, signal }) {
      if (externalName === '') return absent
      const found = await resource.find(client, externalName, forProvider, signal)
      if (!found) return absent
      const secrets = (await definition.secrets?.(client, found, signal)) ?? {}
      return resource.observed(client, found, forProvider, secrets)
    },
    async create(call) {
      await resource.create(call)
      return { connection: definition.createdConnection?.(call.forProvider) ?? {} }
    },
    update: (call) => resource.update(call),
    delete: (call) => resource.delete(call),
    async list({ client, forProvider, signal }) {
      const { methods } = definition
      const found = await client.list(methods.list, definition.parent(client, forProvider), methods.items, signal)
      return found
        .filter((each) => !definition.isGone?.(each))
        .map((each) => resource.observed(client, each, forProvider))
    },
  })
}

function without(fields: Fields, others: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !(name in others)))
}

/** The fields of the API that the kind does not have, with the reasons, for its page. */
function leftOutText({ leftOut }: Derived): string {
  const groups = [...leftOut].map(([reason, paths]) => `${paths.map((path) => `\`${path}\``).join(', ')} (${reason})`)
  return groups.length === 0 ? '' : `Fields of the API that the kind does not have: ${groups.join('; ')}.`
}

class Resource {
  constructor(
    private readonly definition: GoogleDefinition,
    /** Fields of the kind that are not sent as they are. */
    private readonly own: readonly string[],
  ) {}

  async find(
    client: GoogleClient,
    name: string,
    forProvider: ForProvider,
    signal: AbortSignal,
  ): Promise<Values | undefined> {
    const { methods, place, isGone } = this.definition
    const found = await unlessNotFound(client.call(methods.get, place(client, name, forProvider), signal))
    return found && !isGone?.(found) ? found : undefined
  }

  observed(client: GoogleClient, found: Values, forProvider: ForProvider, secrets: ConnectionDetails = {}) {
    const { api, schema, labels: store, connection, ready, nameOf, report, alsoDiffers } = this.definition
    const { labels, rest } = store.read(found)
    const values = fromApi(api, schema, rest)
    const kept = Object.fromEntries(this.own.map((field) => [field, placeValue(forProvider[field])]))
    const differences = alsoDiffers?.(found, forProvider) ?? []
    return present({
      externalName: nameOf(found),
      ready: ready(found, forProvider),
      connection: { ...connection?.(found, forProvider, client), ...secrets },
      ...(differences.length > 0 ? { alsoDiffers: differences } : {}),
      atProvider: {
        ...(report ? report(values, found) : values),
        ...withoutUndefined(kept),
        project: client.project,
        ...withoutUndefined({ [store.field]: labels }),
      },
    })
  }

  async create(call: CreateCall<ForProvider, GoogleClient>): Promise<void> {
    const { client, externalName, forProvider, tags, signal } = call
    const body = this.definition.labels.write(this.body(forProvider), this.ownLabels(tags, forProvider))
    const step = this.definition.create(client, externalName, body, call)
    await this.perform(client, externalName, forProvider, step, signal)
  }

  async update(call: UpdateCall<ForProvider, GoogleClient>): Promise<void> {
    const { client, externalName, forProvider, changed, differences, signal } = call
    const found = await this.find(client, externalName, forProvider, signal)
    if (!found) return
    const fields = new Set([
      ...differences.map(({ path }) => path.replace(/[.[].*$/s, '')),
      ...Object.keys(call.removed).map((path) => path.replace(/[.[].*$/s, '')),
    ])
    const labels = this.changedLabels(call, found, fields)
    const body = this.body(changed)
    const values = labels ? this.definition.labels.write({ ...this.besideLabels(found), ...body }, labels) : body
    const steps = this.definition.update({ client, name: externalName, forProvider, changed: values, found, fields })
    await this.performAll(client, externalName, forProvider, steps, signal)
  }

  /** A later step that finds the resource busy stays a difference, and is performed by a later reconciliation. */
  private async performAll(
    client: GoogleClient,
    name: string,
    forProvider: ForProvider,
    steps: readonly Step[],
    signal: AbortSignal,
  ): Promise<void> {
    for (const [index, step] of steps.entries()) {
      try {
        const done = await this.perform(client, name, forProvider, step, signal)
        if (!done) return
      } catch (error) {
        if (index > 0 && troubleOf(error) === 'busy') return
        throw error
      }
    }
  }

  async delete(call: {
    readonly client: GoogleClient
    readonly externalName: string
    readonly forProvider: ForProvider
    readonly signal: AbortSignal
  }): Promise<void> {
    const { client, externalName, forProvider, signal } = call
    const { methods, place } = this.definition
    const found = await this.find(client, externalName, forProvider, signal)
    if (!found) return
    const { params = {} } = this.definition.delete?.(found, forProvider) ?? {}
    const step = { method: methods.delete, params: { ...place(client, externalName, forProvider), ...params } }
    await unlessNotFound(this.perform(client, externalName, forProvider, step, signal))
  }

  /** Sends a request and waits a short time for its operation. */
  private async perform(
    client: GoogleClient,
    name: string,
    forProvider: ForProvider,
    { method, params, body }: Step,
    signal: AbortSignal,
  ): Promise<boolean> {
    const answer = await client.call(method, params, signal, body)
    return await awaitOperation(answer, {
      client,
      form: this.definition.operations,
      place: this.definition.location(forProvider),
      permission: permissionOf(client.api, method),
      target: `${this.definition.kind} ${name} in project ${client.project}`,
      signal,
    })
  }

  private body(forProvider: object): Values {
    const { api, schema } = this.definition
    const sent = Object.entries(forProvider).filter(([name]) => !this.own.includes(name))
    return toApi(api, schema, Object.fromEntries(sent))
  }

  private ownLabels(tags: Labels, forProvider: ForProvider): Labels {
    const given = forProvider[this.definition.labels.field] ?? {}
    const pairs = Object.entries(tags).map(([key, value]) => [key, key in Object(given) ? value : allowedValue(value)])
    return Object.fromEntries(pairs)
  }

  /** The field that holds labels and something else is sent whole. */
  private besideLabels(found: Values): Values {
    const { within, read } = this.definition.labels
    return within === undefined ? {} : pick(read(found).rest, [within])
  }

  /** All labels that the resource is to have, if they differ. */
  private changedLabels(
    call: UpdateCall<ForProvider, GoogleClient>,
    found: Values,
    fields: ReadonlySet<string>,
  ): Labels | undefined {
    const { field, within, read } = this.definition.labels
    if (!fields.has(field) && !(within !== undefined && fields.has(within))) return undefined
    const { labels = {} } = read(found)
    const removed = call.removed[field] ?? []
    const kept = Object.entries(labels).filter(([key]) => !removed.includes(key))
    return { ...Object.fromEntries(kept), ...this.ownLabels(call.tags, call.forProvider) }
  }
}

const placeValue = (value: unknown) => (typeof value === 'string' ? value : undefined)

function withoutUndefined<T>(values: Readonly<Record<string, T | undefined>>): Readonly<Record<string, T>> {
  const given = Object.entries(values).filter((entry): entry is [string, T] => entry[1] !== undefined)
  return Object.fromEntries(given)
}

/** Ready, or the reason why not, in the words of Google. */
export function readyWhen(is: boolean, state: unknown, message?: unknown): boolean | Condition {
  if (is) return true
  const text = [`its state is ${typeof state === 'string' ? state : 'unknown'}`, message].filter(Boolean).join(': ')
  return { type: 'Ready', status: 'False', reason: 'Unavailable', message: text }
}

/** A copy of the values with only some of the top-level fields. */
export function pick(values: Values, names: readonly string[]): Values {
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)))
}

export { withValue }
