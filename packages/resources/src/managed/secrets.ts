import { type Condition, isObject, type KubeObject, setFieldValue } from '@crosstie/kube'
import {
  publishConnection,
  readSecretKey,
  readSecretValue,
  refuseProtected,
  type Secret,
  secretType,
} from '../connection/publish.js'
import { type FoundNode, secretRefField } from '../definition/schema.js'
import type { ConnectionDetails } from '../external/external.js'
import { isDeleted } from './meta.js'
import { step, type Turn, type Values } from './turn.js'

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
export async function withSensitiveValues(turn: Turn, forProvider: Values): Promise<Values> {
  let filled = forProvider
  for (const { path } of turn.kit.sensitiveFields) {
    const refPath = [...path.slice(0, -1), secretRefField(path.at(-1)!)]
    const ref = at(forProvider, refPath)
    if (!ref) continue
    const key = ref as SecretKeyRef
    refuseProtected(key, `spec.forProvider.${refPath.join('.')}`)
    const secret = `${key.namespace}/${key.name}`
    turn.kit.secretUsers.add(secret, turn.managed)
    const read = await readSecretValue(turn.kit.client, key, turn.signal)
    const value = read?.value
    // Who deletes the Secret along with the object must not be left with an object that cannot go.
    if (value === undefined && isDeleted(turn.managed)) continue
    if (value === undefined)
      throw new Error(`no key ${key.key} in Secret ${key.namespace}/${key.name} for ${path.join('.')}`)
    turn.secrets.addValue(value)
    turn.revisions!.set(path.join('.'), read!.revision)
    // What only initProvider names is for the creation alone.
    if (at(turn.forProvider, refPath))
      turn.given!.set(path.join('.'), { path, secret, revision: read!.revision, value })
    filled = set(filled, path, value)
  }
  return await withKeptValues(turn, filled)
}

/** What was made up for the creation is kept in the connection Secret, and is what the other calls are given. */
async function withKeptValues(turn: Turn, forProvider: Values): Promise<Values> {
  const key = connectionSecretOf(turn.managed)
  const missing = key ? generatedFields(turn, forProvider) : []
  let filled = forProvider
  if (missing.length > 0) refuseProtected(key!, 'spec.writeConnectionSecretToRef')
  for (const { path } of missing) {
    const value = await readSecretKey(turn.kit.client, { ...key!, key: path.join('.') }, turn.signal)
    if (value === undefined) continue
    turn.secrets.addValue(value)
    filled = set(filled, path, value)
  }
  return filled
}

/** Sensitive fields that must have a value and that nobody gave one. */
function generatedFields({ kit }: Turn, forProvider: Values): readonly FoundNode[] {
  return kit.sensitiveFields.filter(
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
export async function learnSecrets(turn: Turn): Promise<void> {
  const { kit, managed, secrets } = turn
  const read = async (key: { name: string; namespace: string }) => {
    try {
      const signal = turn.signal.aborted ? AbortSignal.timeout(LEARN_MS) : turn.signal
      const { data = {} } = await kit.client.get<Secret>(secretType, key, { signal })
      return Object.entries(data).map(([name, value]) => [name, Buffer.from(value, 'base64').toString()] as const)
    } catch {
      // Whatever keeps us from reading it is told of by the step that needed it.
      return []
    }
  }
  for (const values of kit.sensitiveFields.length > 0 ? [turn.forProvider, turn.initProvider ?? {}] : []) {
    for (const { path } of kit.sensitiveFields) {
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
export async function withGeneratedValues(turn: Turn, forProvider: Values): Promise<Values> {
  let filled = forProvider
  for (const { path, node } of generatedFields(turn, forProvider)) {
    const key = connectionSecretOf(turn.managed)
    const name = path.join('.')
    if (!key)
      throw new Error(`set ${secretRefField(name)}, or writeConnectionSecretToRef for a generated value to be kept in`)
    const kept = await readSecretKey(turn.kit.client, { ...key, key: name }, turn.signal)
    const value = kept ?? made(turn, node.sensitive!.length)
    turn.secrets.addValue(value)
    if (kept === undefined) await publishConnection(turn.kit.client, turn.managed, key, { [name]: value }, turn.signal)
    filled = set(filled, path, value)
  }
  return filled
}

/** What stands for a value that is made up only when it is needed. */
export const GENERATED = '(generated)'

/** The same with words in place of what is made up, for those who only want to know of it. */
export function withPlaceholders(turn: Turn, forProvider: Values): Values {
  return generatedFields(turn, forProvider).reduce((filled, { path }) => set(filled, path, GENERATED), forProvider)
}

function made({ kit }: Turn, length: number): string {
  return Array.from({ length }, () => letters[kit.random(letters.length)]).join('')
}

/** Adds connection details to the object's Secret, if it wants one. */
export async function publish(
  turn: Turn,
  details: ConnectionDetails,
  more: { readonly conditions?: readonly Condition[]; readonly evenConflicts?: boolean } = {},
): Promise<void> {
  turn.secrets.addConnection(details)
  const key = connectionSecretOf(turn.managed)
  if (!key) return
  await step({ reason: 'CannotPublishConnectionDetails', both: true, ...more }, () =>
    publishConnection(turn.kit.client, turn.managed, key, details, turn.signal),
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
