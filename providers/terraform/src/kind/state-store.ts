import { gunzipSync, gzipSync } from 'node:zlib'
import {
  type Client,
  ignoring,
  isAlreadyExists,
  isConflict,
  isNotFound,
  type KubeObject,
  type ResourceType,
} from '@crosstie/kube'
import type { StoredState } from '../plan/resource.js'

const secretType: ResourceType = { group: '', version: 'v1', kind: 'Secret', resource: 'secrets', namespaced: true }
const namespaceType: ResourceType = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  resource: 'namespaces',
  namespaced: false,
}

const TYPE = 'terraform.crosstie.io/state'
const ATTEMPTS = 8
/** A Secret holds one megabyte; large states are compressed. */
const PLAIN_MAX = 64 * 1024
/** State must be written even when the time of the reconcile is up. */
const WRITE_MS = 15_000

/** The record of one external resource. */
export interface StateRecord {
  readonly externalName: string
  /** Undefined after the external resource was deleted. */
  readonly state: StoredState | undefined
}

/**
 * Keeps the state of external resources in Secrets, since state holds sensitive values. Each Secret belongs to its object
 * and is removed with it. State, private data, identity and external name are one write.
 */
export class StateStore {
  constructor(
    private readonly client: Client,
    private readonly namespace: string,
  ) {}

  async load(managed: KubeObject, signal?: AbortSignal): Promise<StateRecord | undefined> {
    const found = await this.client
      .get<StateSecret>(secretType, this.#key(managed), signal ? { signal } : {})
      .catch(ignoring(isNotFound))
    return found && recordOf(found)
  }

  /** Writes the record, whatever the Secret held before. Retries, since a record that is lost is a resource that is lost. */
  async save(managed: KubeObject, record: StateRecord): Promise<void> {
    const secret = this.#secret(managed, record)
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#write(secret)
        return
      } catch (error) {
        if (attempt >= ATTEMPTS) throw error
        if (isNotFound(error)) await this.#createNamespace()
        else if (!isConflict(error) && !isAlreadyExists(error)) await pause(attempt)
      }
    }
  }

  async #write(secret: KubeObject): Promise<void> {
    const options = { signal: AbortSignal.timeout(WRITE_MS) }
    const { name, namespace } = secret.metadata
    const held = await this.client
      .get(secretType, { name: name!, namespace: namespace! }, options)
      .catch(ignoring(isNotFound))
    if (!held) await this.client.create(secretType, secret, options)
    else {
      const metadata = { ...secret.metadata, resourceVersion: held.metadata.resourceVersion! }
      await this.client.update(secretType, { ...secret, metadata }, options)
    }
  }

  async #createNamespace(): Promise<void> {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: this.namespace } }
    await this.client.create(namespaceType, namespace).catch(ignoring(isAlreadyExists))
  }

  #key(managed: KubeObject): { name: string; namespace: string } {
    return { name: `terraform-state-${managed.metadata.uid}`, namespace: this.namespace }
  }

  #secret(managed: KubeObject, { externalName, state }: StateRecord): KubeObject {
    const { apiVersion, kind, metadata } = managed
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        ...this.#key(managed),
        annotations: { 'terraform.crosstie.io/object': `${kind} ${metadata.name}` },
        ownerReferences: [{ apiVersion, kind, name: metadata.name!, uid: metadata.uid! }],
      },
      type: TYPE,
      data: {
        externalName: base64(externalName),
        ...(state ? { state: packed(JSON.stringify(state)) } : {}),
      },
    }
  }
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')

function packed(text: string): string {
  return text.length > PLAIN_MAX ? gzipSync(text).toString('base64') : base64(text)
}

interface StateSecret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

function recordOf({ data = {} }: StateSecret): StateRecord {
  const bytes = Buffer.from(data['state'] ?? '', 'base64')
  const text = bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes).toString() : bytes.toString()
  return {
    externalName: Buffer.from(data['externalName'] ?? '', 'base64').toString(),
    state: text === '' ? undefined : (JSON.parse(text) as StoredState),
  }
}

const pause = (attempt: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50 * 2 ** attempt))
