import { createHash } from 'node:crypto'
import { type Client, ignoring, isNotFound, isObject, type KubeObject, type ResourceType } from '@crosstie/kube'
import { type ConnectContext, defineProviderConfig, type ProviderConfigKind, s } from '@crosstie/resources/provider'
import type { InstalledProvider } from '../install/filesystem-mirror.js'
import { configFrom } from '../kind/codec.js'
import { parametersOf } from '../kind/fields.js'
import { groupOf, VERSION } from '../kind/names.js'
import { isSecret, type ObjectShape, shapeOfBlock } from '../kind/shape.js'
import type { ProviderSetup } from '../process/pool.js'
import { encodeValue } from '../protocol/encoded.js'
import type { Schema } from '../protocol/schema.js'

type Values = Readonly<Record<string, unknown>>

const secretType: ResourceType = { group: '', version: 'v1', kind: 'Secret', resource: 'secrets', namespaced: true }

const secretRef = s.object({
  name: s.identifier(s.string({ doc: 'Name of the Secret.' })),
  namespace: s.identifier(s.string({ doc: 'Namespace of the Secret.' })),
  key: s.identifier(s.string({ doc: 'The key whose value is used.' })),
})

const variable = s.object({
  name: s.string({ doc: 'Name of the variable.', maxLength: 253 }),
  value: s.optional(s.string({ doc: 'Its value.' })),
  secretRef: s.optional(s.object(secretRef.fields, { doc: 'The key of a Secret that holds its value.' })),
})

/** Variables by which a process loads other code than its own. */
const forbidden = /^(LD_|DYLD_|PATH$|HOME$|TMPDIR$|TF_PLUGIN_|PLUGIN_)/

/** The ProviderConfig kind of a provider: the arguments of its `provider` block. */
export function providerConfigOf(name: string, provider: Schema): ProviderConfigKind {
  const own = parametersOf(shapeOfBlock(provider.block))
  return defineProviderConfig({
    group: groupOf(name),
    version: VERSION,
    credentials: false,
    fields: s.object({
      configuration: s.optional(
        s.object(own.fields, { doc: "The arguments of the provider block in Terraform's configuration." }),
      ),
      environment: s.optional(
        s.list(variable, { doc: 'Environment variables of the provider process.', keys: ['name'], maxItems: 100 }),
      ),
    }),
  })
}

/** True when the provider needs no argument, so that an empty ProviderConfig can work. */
export const needsNoConfiguration = (provider: Schema): boolean =>
  shapeOfBlock(provider.block).fields.every(({ required }) => !required)

/** How an object reaches its provider: the binary, with the configuration of the ProviderConfig. */
export function setupFrom(installed: InstalledProvider, provider: Schema) {
  const shape = shapeOfBlock(provider.block)
  return async ({ config, api, signal }: ConnectContext): Promise<ProviderSetup> => {
    const { configuration, environment: variables } = config?.spec ?? {}
    const secrets = new SecretValues(api, signal)
    const values = await withSecrets(shape, isObject(configuration) ? configuration : {}, secrets, 'spec.configuration')
    const environment = await environmentOf(Array.isArray(variables) ? variables : [], secrets)
    const digest = createHash('sha256')
      .update(JSON.stringify([values, environment]))
      .digest('hex')
    return {
      key: `${installed.path} ${installed.checksum} ${digest}`,
      launch: { path: installed.path, environment },
      secrets: secrets.values,
      configure: ({ provider: own }) => encodeValue(own.type, configFrom(shape, values, 'spec.configuration')),
    }
  }
}

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

interface SecretKey {
  readonly name: string
  readonly namespace: string
  readonly key: string
}

/** The server has checked that all three are there. */
const secretKeyOf = ({ name, namespace, key }: Values): SecretKey => ({
  name: String(name),
  namespace: String(namespace),
  key: String(key),
})

/** Reads values of Secrets and remembers them, so that messages can be cleaned of them. */
class SecretValues {
  readonly values: string[] = []

  constructor(
    private readonly client: Client,
    private readonly signal: AbortSignal,
  ) {}

  async read({ name, namespace, key }: SecretKey, field: string): Promise<string> {
    const secret = await this.client
      .get<Secret>(secretType, { name, namespace }, { signal: this.signal })
      .catch(ignoring(isNotFound))
    const value = secret?.data?.[key]
    if (value === undefined) {
      throw new Error(
        `the ProviderConfig names key ${key} of Secret ${namespace}/${name} in ${field}, which does not exist`,
      )
    }
    const text = Buffer.from(value, 'base64').toString()
    this.values.push(text)
    return text
  }
}

/** The configuration with the values of the Secrets that it names. */
async function withSecrets(shape: ObjectShape, values: Values, secrets: SecretValues, path: string): Promise<Values> {
  const filled: Record<string, unknown> = { ...values }
  for (const field of shape.fields) {
    const { name, shape: inner } = field
    const here = `${path}.${name}`
    const ref = values[`${name}SecretRef`]
    if (isSecret(field) && isObject(ref)) filled[name] = await secrets.read(secretKeyOf(ref), `${here}SecretRef`)
    const nested = inner.kind === 'object' ? inner : inner.kind === 'embedded' ? inner.item : undefined
    if (nested && isObject(values[name])) filled[name] = await withSecrets(nested, values[name], secrets, here)
  }
  return filled
}

async function environmentOf(variables: readonly unknown[], secrets: SecretValues): Promise<Record<string, string>> {
  const environment: Record<string, string> = {}
  for (const { name: given, value, secretRef: ref } of variables.filter(isObject)) {
    const name = String(given)
    if (forbidden.test(name))
      throw new Error(`the ProviderConfig sets ${name} in spec.environment, which is not allowed`)
    environment[name] = isObject(ref)
      ? await secrets.read(secretKeyOf(ref), `spec.environment ${name}`)
      : String(value ?? '')
  }
  return environment
}
