import {
  type Client,
  equal,
  findInChain,
  ignoring,
  isNotFound,
  type KubeObject,
  messageOf,
  type ResourceType,
  StatusError,
} from '@crosstie/kube'
import type { ConnectionDetails } from '../definition/external.js'
import { controllerOf, controllerReference } from '../metadata/metadata.js'

/** The type of Secrets. */
export const secretType: ResourceType = {
  group: '',
  version: 'v1',
  kind: 'Secret',
  resource: 'secrets',
  namespaced: true,
}

/** The `type` field of connection Secrets. */
export const connectionSecretType = 'connection.crossplane.io/v1alpha1'

/** A Secret of the Kubernetes API. */
export interface Secret extends KubeObject {
  readonly type?: string
  readonly data?: Readonly<Record<string, string>>
}

/** The name and namespace of a Secret. */
export interface SecretKey {
  readonly name: string
  readonly namespace: string
}

const ATTEMPTS = 5

/** Namespaces of the cluster itself. Managed resources must not read or write their Secrets. */
const protectedNamespaces = new Set(['kube-system', 'kube-public', 'kube-node-lease'])

/**
 * Throws if a managed resource or aggregate names a Secret in a system namespace. The controllers have access
 * there, but the author of the object may not.
 */
export function refuseProtected({ name, namespace }: SecretKey, field: string): void {
  if (!protectedNamespaces.has(namespace)) return
  throw new Error(
    `${field} names the Secret ${namespace}/${name}: Secrets in ${namespace} belong to the cluster itself, choose one in another namespace`,
  )
}

/**
 * Adds the details to the connection Secret of the object. It adds and changes keys, and never removes any. It
 * writes only if a key differs. Throws if another object controls the Secret, or if the Secret has no controller
 * and is not a connection Secret. Returns whether it wrote.
 */
export async function publishConnection(
  client: Client,
  owner: KubeObject,
  key: SecretKey,
  details: ConnectionDetails,
  signal?: AbortSignal,
): Promise<boolean> {
  const options = signal ? { signal } : {}
  refuseProtected(key, 'spec.writeConnectionSecretToRef')
  for (let attempt = 1; ; attempt++) {
    try {
      return await publishOnce(client, owner, key, details, options)
    } catch (error) {
      // An error response of the API server may be temporary. The caller retries transport errors.
      const temporary = findInChain(error, StatusError) !== undefined && attempt < ATTEMPTS
      if (!temporary)
        throw new Error(`cannot create or update connection secret: ${messageOf(error)}`, { cause: error })
    }
  }
}

async function publishOnce(
  client: Client,
  owner: KubeObject,
  key: SecretKey,
  details: ConnectionDetails,
  options: { readonly signal?: AbortSignal },
): Promise<boolean> {
  const existing = await step('get', () => client.get<Secret>(secretType, key, options)).catch(ignoring(isNotFound))
  const data = encoded(details)
  if (!existing) {
    const secret: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...key, ownerReferences: [controllerReference(owner)] },
      type: connectionSecretType,
      data,
    }
    await step('create', () => client.create(secretType, secret, options))
    return true
  }
  refuseForeign(existing, owner)
  const missing = Object.keys(data).filter((name) => existing.data?.[name] !== data[name])
  const controlled = controllerOf(existing.metadata.ownerReferences) !== undefined
  // An orphaned connection Secret is adopted again, unless its data already equals the details.
  if (missing.length === 0 && (controlled || equal(existing.data ?? {}, data))) return false
  const owners = [...(existing.metadata.ownerReferences ?? []), controllerReference(owner)]
  const metadata = {
    resourceVersion: existing.metadata.resourceVersion,
    ...(controlled ? {} : { ownerReferences: owners }),
  }
  const patch = { metadata, data: Object.fromEntries(missing.map((name) => [name, data[name]!])) }
  await step('patch', () => client.patch(secretType, key, { type: 'merge', patch: patch as never }, options))
  return true
}

function refuseForeign(secret: Secret, owner: KubeObject): void {
  const controller = controllerOf(secret.metadata.ownerReferences)
  if (controller && controller.uid !== owner.metadata.uid) {
    throw new Error(`existing secret is not controlled by UID ${JSON.stringify(owner.metadata.uid)}`)
  }
  if (!controller && secret.type !== connectionSecretType) {
    throw new Error(`refusing to modify uncontrolled secret of type ${JSON.stringify(secret.type ?? '')}`)
  }
}

async function step<T>(what: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw new Error(`cannot ${what} object: ${messageOf(error)}`, { cause: error })
  }
}

function encoded(details: ConnectionDetails): Record<string, string> {
  const given = Object.entries(details).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return Object.fromEntries(given.map(([name, value]) => [name, Buffer.from(value, 'utf8').toString('base64')]))
}

/** Returns one decoded value of a Secret; undefined if the Secret or the key does not exist. */
export async function readSecretKey(
  client: Client,
  key: SecretKey & { readonly key: string },
  signal?: AbortSignal,
): Promise<string | undefined> {
  return (await readSecretValue(client, key, signal))?.value
}

/** Returns one decoded value of a Secret and the revision of the Secret; undefined if either does not exist. */
export async function readSecretValue(
  client: Client,
  key: SecretKey & { readonly key: string },
  signal?: AbortSignal,
): Promise<{ readonly value: string; readonly revision: string } | undefined> {
  const { name, namespace } = key
  const options = signal ? { signal } : {}
  const secret = await client.get<Secret>(secretType, { name, namespace }, options).catch(ignoring(isNotFound))
  const value = secret?.data?.[key.key]
  if (!secret || value === undefined) return undefined
  return { value: Buffer.from(value, 'base64').toString('utf8'), revision: revisionOf(secret) }
}

/** Returns the revision of a Secret: its uid and resourceVersion. */
export const revisionOf = ({ metadata }: Secret): string => `${metadata.uid ?? ''}/${metadata.resourceVersion ?? ''}`
