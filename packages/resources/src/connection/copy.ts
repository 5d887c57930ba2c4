import { type Client, equal, ignoring, isNotFound, type KubeObject } from '@crosstie/kube'
import { controllerOf, controllerReference } from '../metadata/metadata.js'
import { connectionSecretType, type Secret, type SecretKey, secretType } from './publish.js'

/** The data of a Secret, by key. */
export type Data = Readonly<Record<string, string>>

/**
 * Returns the data of the connection Secret of a resource; undefined if the Secret does not exist. Throws if
 * another object controls the Secret.
 */
export async function readConnection(
  client: Client,
  owner: KubeObject,
  key: SecretKey,
  signal: AbortSignal,
): Promise<Data | undefined> {
  const secret = await find(client, key, signal)
  if (!secret) return undefined
  if (controllerOf(secret.metadata.ownerReferences)?.uid !== owner.metadata.uid) {
    throw new Error(`the Secret ${key.namespace}/${key.name} does not belong to ${owner.kind} ${owner.metadata.name}`)
  }
  return secret.data ?? {}
}

/**
 * Replaces the data of the connection Secret of the owner. Throws if the owner does not control the existing Secret
 * (CLM4). Returns the written Secret; undefined if nothing changed.
 */
export async function writeConnection(
  client: Client,
  owner: KubeObject,
  key: SecretKey,
  data: Data,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  const existing = await find(client, key, signal)
  if (!existing) {
    const metadata = { ...key, ownerReferences: [controllerReference(owner)] }
    const secret: Secret = { apiVersion: 'v1', kind: 'Secret', metadata, type: connectionSecretType, data }
    return await client.create(secretType, secret, { signal })
  }
  if (controllerOf(existing.metadata.ownerReferences)?.uid !== owner.metadata.uid) {
    throw new Error(`the Secret ${key.namespace}/${key.name} exists and belongs to somebody else`)
  }
  if (equal(existing.data ?? {}, data)) return undefined
  return await client.update(secretType, { ...existing, data }, { signal })
}

/** Returns the data with all values decoded from base64. */
export const decoded = (data: Data): Data => mapValues(data, (value) => Buffer.from(value, 'base64').toString('utf8'))

/** Returns the data with all values encoded in base64. */
export const encoded = (data: Data): Data => mapValues(data, (value) => Buffer.from(value, 'utf8').toString('base64'))

const mapValues = (data: Data, change: (value: string) => string): Data =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, change(value)]))

async function find(client: Client, key: SecretKey, signal: AbortSignal): Promise<Secret | undefined> {
  return await client.get<Secret>(secretType, key, { signal }).catch(ignoring(isNotFound))
}
