import { CallError, type CallOptions, type Channel } from './channel.js'
import { type Diagnostic, diagnosticsFromWire, type Path, pathFromWire, throwErrors } from './diagnostics.js'
import { type IdentitySchema, identityFromWire, type Schema, schemaFromWire } from './schema.js'
import type { WireDiagnostic, WireIdentity, WireIdentitySchema, WirePath, WireSchema, WireValue } from './wire.js'

/** The version of Terraform that is reported to providers. Some of them refuse versions that are too old for a feature. */
const TERRAFORM_VERSION = '1.13.0'

/** We handle write-only attributes, and never accept that a change is put off. */
const clientCapabilities = { deferralAllowed: false, writeOnlyAttributesAllowed: true }

/** Terraform sends a null value for the metadata of modules when a module has none: the msgpack byte for null. */
const noMeta: WireValue = { msgpack: new Uint8Array([0xc0]) }

/** All that a provider states about itself. */
export interface ProviderSchema {
  readonly provider: Schema
  readonly resources: ReadonlyMap<string, Schema>
  readonly dataSources: ReadonlyMap<string, Schema>
  readonly listResources: ReadonlyMap<string, Schema>
  readonly identities: ReadonlyMap<string, IdentitySchema>
  /** The provider wants to plan deletions too. */
  readonly planDestroy: boolean
}

/** State, private data and identity of a resource, as the provider encoded them. */
export interface Stored {
  readonly state: WireValue
  readonly private: Uint8Array
  readonly identity: WireValue | undefined
}

export interface Answer extends Stored {
  readonly diagnostics: readonly Diagnostic[]
}

export interface PlanAnswer extends Answer {
  readonly requiresReplace: readonly Path[]
  readonly legacyTypeSystem: boolean
}

export interface Change {
  readonly type: string
  readonly prior: WireValue
  readonly config: WireValue
  readonly private: Uint8Array
  readonly identity: WireValue | undefined
}

export interface Imported extends Stored {
  readonly type: string
}

export interface ListedResource {
  readonly identity: WireValue | undefined
  readonly displayName: string
  readonly resource: WireValue | undefined
  readonly diagnostics: readonly Diagnostic[]
}

type Wires = Readonly<Record<string, unknown>> & { readonly diagnostics?: readonly WireDiagnostic[] }

const nothing = new Uint8Array()
const identityOf = (identity: WireValue | undefined): WireIdentity | undefined => identity && { identityData: identity }

/** The calls of the plugin protocol, the same for both versions. Values stay encoded: only a schema can read them. */
export class ProviderClient {
  constructor(private readonly channel: Channel) {}

  /** The schemas of everything. Throws when the provider reports an error. */
  async schema(options: CallOptions = {}): Promise<ProviderSchema> {
    const answer = await this.#call<
      Wires & {
        readonly provider?: WireSchema
        readonly resourceSchemas?: Readonly<Record<string, WireSchema>>
        readonly dataSourceSchemas?: Readonly<Record<string, WireSchema>>
        readonly listResourceSchemas?: Readonly<Record<string, WireSchema>>
        readonly serverCapabilities?: { readonly planDestroy?: boolean } | null
      }
    >('GetProviderSchema', 'Empty', 'SchemaResponse', {}, options)
    throwErrors(diagnosticsFromWire(answer.diagnostics))
    return {
      provider: schemaFromWire(answer.provider ?? {}),
      resources: schemasOf(answer.resourceSchemas),
      dataSources: schemasOf(answer.dataSourceSchemas),
      listResources: schemasOf(answer.listResourceSchemas),
      identities: await this.#identities(options),
      planDestroy: answer.serverCapabilities?.planDestroy ?? false,
    }
  }

  async #identities(options: CallOptions): Promise<ReadonlyMap<string, IdentitySchema>> {
    try {
      const { identitySchemas = {}, diagnostics } = await this.#call<
        Wires & { readonly identitySchemas?: Readonly<Record<string, WireIdentitySchema>> }
      >('GetResourceIdentitySchemas', 'Empty', 'IdentitySchemasResponse', {}, options)
      throwErrors(diagnosticsFromWire(diagnostics))
      return new Map(Object.entries(identitySchemas).map(([name, wire]) => [name, identityFromWire(wire)]))
    } catch (error) {
      // Providers from before identities do not know the method.
      if (error instanceof CallError && error.isUnimplemented) return new Map()
      throw error
    }
  }

  /** Version 5 may fill in defaults; the answer is the configuration to go on with. */
  async validateProvider(config: WireValue, options: CallOptions = {}) {
    const { preparedConfig, diagnostics } = await this.#call<Wires & { readonly preparedConfig?: WireValue | null }>(
      'ValidateProviderConfig',
      'ProviderConfigRequest',
      'ProviderConfigResponse',
      { config },
      options,
    )
    return { config: preparedConfig ?? config, diagnostics: diagnosticsFromWire(diagnostics) }
  }

  async configure(config: WireValue, options: CallOptions = {}): Promise<readonly Diagnostic[]> {
    const request = { terraformVersion: TERRAFORM_VERSION, config, clientCapabilities }
    const types = ['ConfigureRequest', 'DiagnosticsResponse'] as const
    const { diagnostics } = await this.#call('ConfigureProvider', ...types, request, options)
    return diagnosticsFromWire(diagnostics)
  }

  async validate(
    what: 'resource' | 'data source',
    type: string,
    config: WireValue,
    options: CallOptions = {},
  ): Promise<readonly Diagnostic[]> {
    const method = what === 'resource' ? 'ValidateResourceConfig' : 'ValidateDataResourceConfig'
    const request = { typeName: type, config, ...(what === 'resource' ? { clientCapabilities } : {}) }
    const { diagnostics } = await this.#call(method, 'ValidateRequest', 'DiagnosticsResponse', request, options)
    return diagnosticsFromWire(diagnostics)
  }

  /** State of any version, in JSON, as state of the current version. */
  async upgrade(type: string, version: number, json: Uint8Array, options: CallOptions = {}) {
    const request = { typeName: type, version, rawState: { json } }
    const answer = await this.#call<Wires & { readonly upgradedState?: WireValue | null }>(
      'UpgradeResourceState',
      'UpgradeRequest',
      'UpgradeResponse',
      request,
      options,
    )
    throwErrors(diagnosticsFromWire(answer.diagnostics))
    return { state: answer.upgradedState ?? {}, diagnostics: diagnosticsFromWire(answer.diagnostics) }
  }

  async upgradeIdentity(type: string, version: number, json: Uint8Array, options: CallOptions = {}) {
    const request = { typeName: type, version, rawState: { json } }
    const answer = await this.#call<Wires & { readonly upgradedIdentity?: WireIdentity | null }>(
      'UpgradeResourceIdentity',
      'UpgradeRequest',
      'UpgradeIdentityResponse',
      request,
      options,
    )
    throwErrors(diagnosticsFromWire(answer.diagnostics))
    return answer.upgradedIdentity?.identityData ?? undefined
  }

  /** Reads the resource. A null state means that it no longer exists. */
  async read(type: string, stored: Stored, options: CallOptions = {}): Promise<Answer> {
    const request = {
      typeName: type,
      currentState: stored.state,
      private: stored.private,
      providerMeta: noMeta,
      clientCapabilities,
      currentIdentity: identityOf(stored.identity),
    }
    const answer = await this.#call<
      Wires & {
        readonly newState?: WireValue | null
        readonly private?: Uint8Array
        readonly newIdentity?: WireIdentity | null
      }
    >('ReadResource', 'ReadRequest', 'ReadResponse', request, options)
    return {
      state: answer.newState ?? {},
      private: answer.private ?? nothing,
      identity: answer.newIdentity?.identityData ?? stored.identity,
      diagnostics: diagnosticsFromWire(answer.diagnostics),
    }
  }

  async plan(change: Change & { readonly proposed: WireValue }, options: CallOptions = {}): Promise<PlanAnswer> {
    const request = {
      typeName: change.type,
      priorState: change.prior,
      proposedNewState: change.proposed,
      config: change.config,
      priorPrivate: change.private,
      providerMeta: noMeta,
      clientCapabilities,
      priorIdentity: identityOf(change.identity),
    }
    const answer = await this.#call<
      Wires & {
        readonly plannedState?: WireValue | null
        readonly plannedPrivate?: Uint8Array
        readonly plannedIdentity?: WireIdentity | null
        readonly requiresReplace?: readonly WirePath[]
        readonly legacyTypeSystem?: boolean
      }
    >('PlanResourceChange', 'PlanRequest', 'PlanResponse', request, options)
    return {
      state: answer.plannedState ?? {},
      private: answer.plannedPrivate ?? nothing,
      identity: answer.plannedIdentity?.identityData ?? undefined,
      requiresReplace: (answer.requiresReplace ?? []).map(pathFromWire),
      legacyTypeSystem: answer.legacyTypeSystem ?? false,
      diagnostics: diagnosticsFromWire(answer.diagnostics),
    }
  }

  /** Carries out a change. An answer with errors may still have a state: part of the change took effect. */
  async apply(change: Change & { readonly planned: WireValue }, options: CallOptions = {}): Promise<Answer> {
    const request = {
      typeName: change.type,
      priorState: change.prior,
      plannedState: change.planned,
      config: change.config,
      plannedPrivate: change.private,
      providerMeta: noMeta,
      plannedIdentity: identityOf(change.identity),
    }
    const answer = await this.#call<
      Wires & {
        readonly newState?: WireValue | null
        readonly private?: Uint8Array
        readonly newIdentity?: WireIdentity | null
      }
    >('ApplyResourceChange', 'ApplyRequest', 'ApplyResponse', request, options)
    return {
      state: answer.newState ?? {},
      private: answer.private ?? nothing,
      identity: answer.newIdentity?.identityData ?? undefined,
      diagnostics: diagnosticsFromWire(answer.diagnostics),
    }
  }

  async import(
    type: string,
    by: { readonly id: string } | { readonly identity: WireValue },
    options: CallOptions = {},
  ): Promise<{ readonly imported: readonly Imported[]; readonly diagnostics: readonly Diagnostic[] }> {
    const which = 'id' in by ? { id: by.id } : { identity: identityOf(by.identity) }
    const answer = await this.#call<
      Wires & {
        readonly importedResources?: readonly {
          readonly typeName?: string
          readonly state?: WireValue | null
          readonly private?: Uint8Array
          readonly identity?: WireIdentity | null
        }[]
      }
    >(
      'ImportResourceState',
      'ImportRequest',
      'ImportResponse',
      { typeName: type, clientCapabilities, ...which },
      options,
    )
    const imported = (answer.importedResources ?? []).map((resource) => ({
      type: resource.typeName ?? type,
      state: resource.state ?? {},
      private: resource.private ?? nothing,
      identity: resource.identity?.identityData ?? undefined,
    }))
    return { imported, diagnostics: diagnosticsFromWire(answer.diagnostics) }
  }

  async readData(type: string, config: WireValue, options: CallOptions = {}) {
    const request = { typeName: type, config, providerMeta: noMeta, clientCapabilities }
    const answer = await this.#call<Wires & { readonly state?: WireValue | null }>(
      'ReadDataSource',
      'ReadDataRequest',
      'ReadDataResponse',
      request,
      options,
    )
    return { state: answer.state ?? {}, diagnostics: diagnosticsFromWire(answer.diagnostics) }
  }

  async *list(
    type: string,
    config: WireValue,
    { limit, includeResource, ...options }: CallOptions & { readonly limit: number; readonly includeResource: boolean },
  ): AsyncGenerator<ListedResource> {
    const request = { typeName: type, config, includeResourceObject: includeResource, limit }
    const events = this.channel.stream<{
      readonly identity?: WireIdentity | null
      readonly displayName?: string
      readonly resourceObject?: WireValue | null
      readonly diagnostic?: readonly WireDiagnostic[]
    }>('ListResource', ['ListRequest', 'ListEvent'], request, options)
    for await (const event of events) {
      yield {
        identity: event.identity?.identityData ?? undefined,
        displayName: event.displayName ?? '',
        resource: event.resourceObject ?? undefined,
        diagnostics: diagnosticsFromWire(event.diagnostic),
      }
    }
  }

  /** Asks the provider to end calls in progress as soon as it safely can. */
  async stop(options: CallOptions = {}): Promise<void> {
    await this.#call('StopProvider', 'Empty', 'StopResponse', {}, options)
  }

  #call<T = Wires>(
    method: string,
    request: string,
    response: string,
    message: object,
    options: CallOptions,
  ): Promise<T> {
    return this.channel.call<T>(method, [request, response], message, options)
  }
}

const schemasOf = (wires: Readonly<Record<string, WireSchema>> = {}): ReadonlyMap<string, Schema> =>
  new Map(Object.entries(wires).map(([name, wire]) => [name, schemaFromWire(wire)]))
