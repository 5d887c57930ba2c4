import type { ManagedKind } from '@crosstie/resources/provider'
import type { InstalledProvider } from '../install/filesystem-mirror.js'
import { deriveDataKind } from '../kind/data-source.js'
import { deriveKind } from '../kind/derive.js'
import { launchProvider } from '../process/launch.js'
import type { ProviderPool } from '../process/pool.js'
import type { ProviderSchema } from '../protocol/provider-client.js'
import type { Schema } from '../protocol/schema.js'
import { providerConfigOf, setupFrom } from './configuration.js'

/** The types that patterns such as `random_*` select, in order. Data sources have the prefix `data.`. */
export function selectTypes(patterns: readonly string[], available: readonly string[]): readonly string[] {
  const tests = patterns.map((pattern) => {
    const source = pattern.split('*').map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'))
    return new RegExp(`^${source.join('[a-z0-9_]*')}$`, 'i')
  })
  return available.filter((type) => tests.some((test) => test.test(type)))
}

const DATA = 'data.'

/** A provider binary with its schema, and the kinds that are derived from it. */
export class InstalledKinds {
  readonly #kinds = new Map<string, ManagedKind>()
  readonly #providerConfig
  readonly #setup

  private constructor(
    /** The first part of the API group. */
    readonly name: string,
    /** The first word of the type names. */
    readonly prefix: string,
    readonly installed: InstalledProvider,
    readonly pool: ProviderPool,
    readonly namespace: string,
    readonly provider: Schema,
    /** All types: resources, then data sources with the prefix `data.`. */
    readonly available: readonly string[],
  ) {
    this.#providerConfig = providerConfigOf(name, provider)
    this.#setup = setupFrom(installed, provider)
  }

  /** Reads the schema of a provider. Throws when the binary cannot be started or has no schema. */
  static async read(
    options: {
      readonly name: string
      readonly prefix: string
      readonly pool: ProviderPool
      readonly namespace: string
    },
    installed: InstalledProvider,
  ): Promise<InstalledKinds> {
    const { name, prefix, pool, namespace } = options
    const { provider, resources, dataSources } = await schemaOf(installed)
    const available = [...[...resources.keys()].sort(), ...[...dataSources.keys()].sort().map((type) => DATA + type)]
    return new InstalledKinds(name, prefix, installed, pool, namespace, provider, available)
  }

  get providerConfig() {
    return this.#providerConfig
  }

  /** True for the processes of this provider. */
  owns(key: string): boolean {
    return key.startsWith(`${this.installed.path} ${this.installed.checksum} `)
  }

  /**
   * The kinds of some types. The schema of a large provider takes hundreds of megabytes, so only the kinds are kept, and it
   * is read again for others.
   */
  async kinds(types: readonly string[]): Promise<readonly ManagedKind[]> {
    const missing = types.filter((type) => !this.#kinds.has(type))
    if (missing.length > 0) {
      const schema = await schemaOf(this.installed)
      for (const type of missing) this.#kinds.set(type, this.#derive(type, schema))
    }
    return types.flatMap((type) => this.#kinds.get(type) ?? [])
  }

  /** The Terraform type of a kind that was derived here. */
  typeOf(kind: ManagedKind): string | undefined {
    return [...this.#kinds].find(([, derived]) => derived === kind)?.[0]
  }

  #derive(type: string, schema: ProviderSchema): ManagedKind {
    const { name, prefix: provider, pool, namespace } = this
    const isData = type.startsWith(DATA)
    const own = isData ? type.slice(DATA.length) : type
    const found = (isData ? schema.dataSources : schema.resources).get(own)
    if (!found) throw new Error(`the provider has no type ${type}`)
    const options = {
      name,
      provider,
      type: own,
      schema: found,
      pool,
      namespace,
      providerConfig: this.#providerConfig,
      setup: this.#setup,
    }
    return isData ? deriveDataKind(options) : deriveKind(options)
  }
}

async function schemaOf({ path }: InstalledProvider): Promise<ProviderSchema> {
  await using process = await launchProvider({ path })
  return await process.client.schema()
}
