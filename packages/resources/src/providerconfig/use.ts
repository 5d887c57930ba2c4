import {
  apiVersionOf,
  type Client,
  ignoring,
  isAlreadyExists,
  isNotFound,
  type Json,
  type KubeObject,
  messageOf,
} from '@crosstie/kube'
import { readSecretValue, revisionOf, type Secret, type SecretKey, secretType } from '../connection/publish.js'
import type { ProviderConfigKind, ProviderConfiguration } from '../definition/provider-config.js'
import { labelValue } from '../metadata/labels.js'
import { annotationOf, annotations, controllerReference } from '../metadata/metadata.js'

/** The sources of credentials other than Secrets. */
export interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly readFile: (path: string) => Promise<string>
}

interface ConfigSpec {
  readonly credentials?: {
    readonly source?: string
    readonly secretRef?: { readonly name: string; readonly namespace: string; readonly key?: string }
    readonly env?: { readonly name: string }
    readonly fs?: { readonly path: string }
  }
}

/** Returns the ProviderConfig of a managed resource with its credentials. */
export async function readProviderConfig(
  client: Client,
  kind: ProviderConfigKind,
  name: string,
  surroundings: Surroundings,
  signal?: AbortSignal,
): Promise<ProviderConfiguration> {
  const config = await client.get(kind.type, { name }, signal ? { signal } : {}).catch((error) => {
    throw new Error(`cannot get ProviderConfig ${JSON.stringify(name)}: ${messageOf(error)}`, { cause: error })
  })
  const spec = (config['spec'] ?? {}) as ConfigSpec
  const { credentials, credentialsRevision } = await readCredentials(client, spec, surroundings, signal)
  return {
    name,
    revision: `${config.metadata.uid}/${config.metadata.generation ?? config.metadata.resourceVersion}/${fingerprint(credentials)}`,
    spec: spec as unknown as Readonly<Record<string, Json>>,
    credentials,
    credentialsRevision,
    approval: annotationOf(config, annotations.approval) === 'required',
  }
}

async function readCredentials(
  client: Client,
  { credentials }: ConfigSpec,
  { environment, readFile }: Surroundings,
  signal: AbortSignal | undefined,
): Promise<Pick<ProviderConfiguration, 'credentials' | 'credentialsRevision'>> {
  switch (credentials?.source ?? 'None') {
    case 'Secret': {
      const ref = credentials?.secretRef
      if (!ref) throw new Error('the ProviderConfig takes credentials from a Secret but names none')
      const { key } = ref
      const read = await (key ? readSecretValue(client, { ...ref, key }, signal) : readWholeSecret(client, ref, signal))
      if (!read) throw new Error(`no ${key ? `key ${key} in ` : ''}Secret ${ref.namespace}/${ref.name} for credentials`)
      return { credentials: read.value, credentialsRevision: read.revision }
    }
    case 'Environment': {
      const name = credentials?.env?.name ?? ''
      const value = environment[name]
      if (value === undefined) throw new Error(`no environment variable ${JSON.stringify(name)} for credentials`)
      return { credentials: value }
    }
    case 'Filesystem': {
      const path = credentials?.fs?.path ?? ''
      const read = await readFile(path).catch((error) => {
        throw new Error(`cannot read credentials from ${path}: ${messageOf(error)}`, { cause: error })
      })
      return { credentials: read }
    }
    default:
      return { credentials: undefined }
  }
}

async function readWholeSecret(
  client: Client,
  { name, namespace }: SecretKey,
  signal: AbortSignal | undefined,
): Promise<{ readonly value: string; readonly revision: string } | undefined> {
  const options = signal ? { signal } : {}
  const secret = await client.get<Secret>(secretType, { name, namespace }, options).catch(ignoring(isNotFound))
  if (!secret) return undefined
  const entries = Object.entries(secret.data ?? {})
  const parts = entries.map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')])
  return { value: JSON.stringify(Object.fromEntries(parts)), revision: revisionOf(secret) }
}

/** Returns an FNV-1a hash. It detects a change of the credentials without revealing them. */
function fingerprint(text = ''): string {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash >>> 0).toString(16)
}

/** The label that selects the users of a ProviderConfig. */
const CONFIG_LABEL = 'crossplane.io/provider-config'

/** Returns the selector of the users of a ProviderConfig. Its name may be longer than a label value. */
export const configSelector = (config: string): string => `${CONFIG_LABEL}=${labelValue(config)}`

/**
 * Records that a managed resource uses a ProviderConfig, to block the deletion of the ProviderConfig. The managed
 * resource owns the ProviderConfigUsage, so both are deleted together.
 */
export class UsageTracker {
  readonly #known = new Map<string, string>()

  constructor(
    private readonly client: Client,
    private readonly kind: ProviderConfigKind,
  ) {}

  async track(managed: KubeObject, config: string, signal?: AbortSignal): Promise<void> {
    const uid = managed.metadata.uid ?? ''
    if (this.#known.get(uid) === config) return
    const { usageType } = this.kind
    const usage: KubeObject = {
      apiVersion: apiVersionOf(usageType),
      kind: usageType.kind,
      metadata: {
        name: uid,
        labels: { [CONFIG_LABEL]: labelValue(config) },
        ownerReferences: [controllerReference(managed)],
      },
      providerConfigRef: { name: config },
      resourceRef: { apiVersion: managed.apiVersion, kind: managed.kind, name: managed.metadata.name, uid },
    }
    if (!(await this.#isNoted(uid, config, signal))) await this.#note(usage, config, signal)
    this.#known.set(uid, config)
  }

  get size(): number {
    return this.#known.size
  }

  forget(uid: string): void {
    this.#known.delete(uid)
  }

  /** Returns whether the usage is recorded. After a restart nearly all are, and a read is cheaper than a write. */
  async #isNoted(uid: string, config: string, signal: AbortSignal | undefined): Promise<boolean> {
    try {
      const usage = await this.client.get(this.kind.usageType, { name: uid }, signal ? { signal } : {})
      const { name } = (usage['providerConfigRef'] ?? {}) as { name?: string }
      return name === config && usage.metadata.labels?.[CONFIG_LABEL] === labelValue(config)
    } catch (error) {
      if (isNotFound(error)) return false
      throw new Error(`cannot track use of ProviderConfig: ${messageOf(error)}`, { cause: error })
    }
  }

  async #note(usage: KubeObject, config: string, signal: AbortSignal | undefined): Promise<void> {
    const { usageType } = this.kind
    const options = signal ? { signal } : {}
    try {
      await this.client.create(usageType, usage, options)
    } catch (error) {
      if (!isAlreadyExists(error))
        throw new Error(`cannot track use of ProviderConfig: ${messageOf(error)}`, { cause: error })
      const patch = { metadata: { labels: usage.metadata.labels }, providerConfigRef: { name: config } }
      const key = { name: usage.metadata.name! }
      await this.client.patch(usageType, key, { type: 'merge', patch: patch as never }, options)
    }
  }
}
