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
 * forProvider with the values that its secret references name. The values
 * exist only here and in the provider's functions; the turn remembers them, so
 * that no message shows one.
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
    // Who deletes the Secret along with the object must not be left with an object that cannot go.
    if (value === undefined && isDeleted(reconciliation.managed)) continue
    if (value === undefined)
      throw new Error(`no key ${key.key} in Secret ${key.namespace}/${key.name} for ${path.join('.')}`)
    reconciliation.secrets.addValue(value)
    reconciliation.revisions!.set(path.join('.'), read!.revision)
    // What only initProvider names is for the creation alone.
    if (at(reconciliation.forProvider, refPath))
      reconciliation.given!.set(path.join('.'), { path, secret, revision: read!.revision, value })
    filled = set(filled, path, value)
  }
  return await withKeptValues(reconciliation, filled)
}

/** What was made up for the creation is kept in the connection Secret, and is what the other calls are given. */
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

/** Sensitive fields that must have a value and that nobody gave one. */
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
 * Learns all secrets of the object before something of unknown content is told
 * of: a provider's error may quote what another call, or another process, gave it.
 */
export async function learnSecrets(reconciliation: Reconciliation): Promise<void> {
  const { runtime, managed, secrets } = reconciliation
  const read = async (key: { name: string; namespace: string }) => {
    try {
      const signal = reconciliation.signal.aborted ? AbortSignal.timeout(LEARN_MS) : reconciliation.signal
      const { data = {} } = await runtime.client.get<Secret>(secretType, key, { signal })
      return Object.entries(data).map(([name, value]) => [name, Buffer.from(value, 'base64').toString()] as const)
    } catch {
      // Whatever keeps us from reading it is told of by the step that needed it.
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
 * Makes up the required sensitive values that nobody gave (MR9). They are in
 * the connection Secret before the create that uses them: a crash in between
 * must not make a resource whose password nobody knows.
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

/** What stands for a value that is made up only when it is needed. */
export const GENERATED = '(generated)'

/** The same with words in place of what is made up, for those who only want to know of it. */
export function withPlaceholders(reconciliation: Reconciliation, forProvider: Values): Values {
  return generatedFields(reconciliation, forProvider).reduce(
    (filled, { path }) => set(filled, path, GENERATED),
    forProvider,
  )
}

function made({ runtime }: Reconciliation, length: number): string {
  return Array.from({ length }, () => letters[runtime.random(letters.length)]).join('')
}

/** Adds connection details to the object's Secret, if it wants one. */
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

/** The Secret that connection details go to. A namespaced object's is in its own namespace. */
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
