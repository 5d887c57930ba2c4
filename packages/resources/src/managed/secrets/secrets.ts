import { type Condition, isObject, type KubeObject, setFieldValue } from '@crosstie/kube'
import {
  publishConnection,
  readSecretKey,
  readSecretValue,
  refuseProtected,
  type Secret,
  secretType,
} from '../../connection/publish.js'
import type { ConnectionDetails } from '../../definition/external.js'
import { type FoundNode, secretRefField } from '../../definition/schema.js'
import { isDeleted } from '../../metadata/metadata.js'
import { type Reconciliation, step, type Values } from '../reconciliation.js'

const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

const LEARN_MS = 5_000

interface SecretKeyRef {
  readonly name: string
  readonly namespace: string
  readonly key: string
}

/**
 * Returns forProvider with the values from its secret references. The values exist only here and in the provider's
 * functions. The reconciliation redacts them in all messages.
 */
export async function withSensitiveValues(reconciliation: Reconciliation, forProvider: Values): Promise<Values> {
  let filled = forProvider
  for (const { path } of reconciliation.runtime.sensitiveFields) {
    const refPath = [...path.slice(0, -1), secretRefField(path.at(-1)!)]
    const ref = at(forProvider, refPath)
    if (!ref) continue
    const key = ref as SecretKeyRef
    refuseProtected(key, `spec.forProvider.${refPath.join('.')}`)
    const secret = `${key.namespace}/${key.name}`
    reconciliation.runtime.secretUsers.add(secret, reconciliation.managed)
    const read = await readSecretValue(reconciliation.runtime.client, key, reconciliation.signal)
    const value = read?.value
    // A user may delete the Secret together with the object. The object must still be deletable.
    if (value === undefined && isDeleted(reconciliation.managed)) continue
    if (value === undefined)
      throw new Error(`no key ${key.key} in Secret ${key.namespace}/${key.name} for ${path.join('.')}`)
    reconciliation.secrets.addValue(value)
    reconciliation.revisions!.set(path.join('.'), read!.revision)
    // References only in initProvider apply to the creation only.
    if (at(reconciliation.forProvider, refPath))
      reconciliation.given!.set(path.join('.'), { path, secret, revision: read!.revision, value })
    filled = set(filled, path, value)
  }
  return await withKeptValues(reconciliation, filled)
}

/** Adds generated values, which are stored in the connection Secret, for calls after the creation. */
async function withKeptValues(reconciliation: Reconciliation, forProvider: Values): Promise<Values> {
  const key = connectionSecretOf(reconciliation.managed)
  const missing = key ? generatedFields(reconciliation, forProvider) : []
  let filled = forProvider
  if (missing.length > 0) refuseProtected(key!, 'spec.writeConnectionSecretToRef')
  for (const { path } of missing) {
    const value = await readSecretKey(
      reconciliation.runtime.client,
      { ...key!, key: path.join('.') },
      reconciliation.signal,
    )
    if (value === undefined) continue
    reconciliation.secrets.addValue(value)
    filled = set(filled, path, value)
  }
  return filled
}

/** Returns the required sensitive fields without a value. */
function generatedFields({ runtime }: Reconciliation, forProvider: Values): readonly FoundNode[] {
  return runtime.sensitiveFields.filter(
    ({ path, node }) =>
      node.sensitive?.generate &&
      !node.optional &&
      at(forProvider, path) === undefined &&
      !node.sensitive.unless?.((at(forProvider, path.slice(0, -1)) ?? {}) as Values) &&
      (path.length === 1 || at(forProvider, path.slice(0, -1)) !== undefined),
  )
}

/**
 * Reads all secrets of the object, so that they are redacted. A provider error may contain values from another call
 * or process.
 */
export async function learnSecrets(reconciliation: Reconciliation): Promise<void> {
  const { runtime, managed, secrets } = reconciliation
  const read = async (key: { name: string; namespace: string }) => {
    try {
      const signal = reconciliation.signal.aborted ? AbortSignal.timeout(LEARN_MS) : reconciliation.signal
      const { data = {} } = await runtime.client.get<Secret>(secretType, key, { signal })
      return Object.entries(data).map(([name, value]) => [name, Buffer.from(value, 'base64').toString()] as const)
    } catch {
      // The step that needs the Secret reports the failure.
      return []
    }
  }
  for (const values of runtime.sensitiveFields.length > 0
    ? [reconciliation.forProvider, reconciliation.initProvider ?? {}]
    : []) {
    for (const { path } of runtime.sensitiveFields) {
      const ref = at(values, [...path.slice(0, -1), secretRefField(path.at(-1)!)]) as SecretKeyRef | undefined
      if (!ref) continue
      for (const [name, value] of await read({ name: ref.name, namespace: ref.namespace }))
        if (name === ref.key) secrets.addValue(value)
    }
  }
  const connection = connectionSecretOf(managed)
  if (connection) secrets.addConnection(Object.fromEntries(await read(connection)))
}

/**
 * Generates required sensitive values that are not set (MR9). They are stored in the connection Secret before the
 * create, so that a crash cannot leave a resource with an unknown password.
 */
export async function withGeneratedValues(reconciliation: Reconciliation, forProvider: Values): Promise<Values> {
  let filled = forProvider
  for (const { path, node } of generatedFields(reconciliation, forProvider)) {
    const key = connectionSecretOf(reconciliation.managed)
    const name = path.join('.')
    if (!key)
      throw new Error(`set ${secretRefField(name)}, or writeConnectionSecretToRef for a generated value to be kept in`)
    const kept = await readSecretKey(reconciliation.runtime.client, { ...key, key: name }, reconciliation.signal)
    const value = kept ?? made(reconciliation, node.sensitive!.length)
    reconciliation.secrets.addValue(value)
    if (kept === undefined)
      await publishConnection(
        reconciliation.runtime.client,
        reconciliation.managed,
        key,
        { [name]: value },
        reconciliation.signal,
      )
    filled = set(filled, path, value)
  }
  return filled
}

/** The placeholder of a value that is generated when it is needed. */
export const GENERATED = '(generated)'

/** Returns forProvider with placeholders for generated values, for plans and approvals. */
export function withPlaceholders(reconciliation: Reconciliation, forProvider: Values): Values {
  return generatedFields(reconciliation, forProvider).reduce(
    (filled, { path }) => set(filled, path, GENERATED),
    forProvider,
  )
}

function made({ runtime }: Reconciliation, length: number): string {
  return Array.from({ length }, () => letters[runtime.random(letters.length)]).join('')
}

/** Adds connection details to the Secret of the object, if it has one. */
export async function publish(
  reconciliation: Reconciliation,
  details: ConnectionDetails,
  more: { readonly conditions?: readonly Condition[]; readonly evenConflicts?: boolean } = {},
): Promise<void> {
  reconciliation.secrets.addConnection(details)
  const key = connectionSecretOf(reconciliation.managed)
  if (!key) return
  await step({ reason: 'CannotPublishConnectionDetails', both: true, ...more }, () =>
    publishConnection(reconciliation.runtime.client, reconciliation.managed, key, details, reconciliation.signal),
  )
}

/** Returns the Secret for connection details. A namespaced object defaults to its own namespace. */
export function connectionSecretOf(managed: KubeObject): { name: string; namespace: string } | undefined {
  const spec = managed['spec'] as { writeConnectionSecretToRef?: { name: string; namespace?: string } } | undefined
  const ref = spec?.writeConnectionSecretToRef
  return ref && { name: ref.name, namespace: ref.namespace ?? managed.metadata.namespace ?? '' }
}

function at(values: Values, path: readonly string[]): unknown {
  let value: unknown = values
  for (const name of path) value = isObject(value) ? value[name] : undefined
  return value
}

const set = (values: Values, path: readonly string[], value: string): Values =>
  setFieldValue(
    values,
    path.map((field) => ({ field })),
    value,
  )
