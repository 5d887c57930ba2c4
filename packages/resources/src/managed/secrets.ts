import { type Condition, isObject, type KubeObject, setFieldValue } from '@crosstie/kube'
import { publishConnection, readSecretKey } from '../connection/publish.js'
import { secretRefField } from '../definition/schema.js'
import type { ConnectionDetails } from '../external/external.js'
import { isDeleted } from './meta.js'
import { step, type Turn, type Values } from './turn.js'

const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

/**
 * forProvider with the values that its secret references name. The values
 * exist only here and in the provider's functions; the turn remembers them, so
 * that no message shows one.
 */
export async function withSensitiveValues(turn: Turn, forProvider: Values): Promise<Values> {
  let filled = forProvider
  for (const { path } of turn.kit.sensitiveFields) {
    const ref = at(forProvider, [...path.slice(0, -1), secretRefField(path.at(-1)!)])
    if (!ref) continue
    const key = ref as { name: string; namespace: string; key: string }
    const value = await readSecretKey(turn.kit.client, key, turn.signal)
    // Who deletes the Secret along with the object must not be left with an object that cannot go.
    if (value === undefined && isDeleted(turn.managed)) continue
    if (value === undefined)
      throw new Error(`no key ${key.key} in Secret ${key.namespace}/${key.name} for ${path.join('.')}`)
    turn.secrets.add(value)
    filled = set(filled, path, value)
  }
  return filled
}

/**
 * Makes up the required sensitive values that nobody gave (MR9). They are in
 * the connection Secret before the create that uses them: a crash in between
 * must not make a resource whose password nobody knows.
 */
export async function withGeneratedValues(turn: Turn, forProvider: Values): Promise<Values> {
  let filled = forProvider
  for (const { path, node } of turn.kit.sensitiveFields) {
    if (!node.sensitive?.generate || node.optional || at(filled, path) !== undefined) continue
    if (path.length > 1 && at(filled, path.slice(0, -1)) === undefined) continue
    const key = connectionSecretOf(turn.managed)
    const name = path.join('.')
    if (!key)
      throw new Error(`set ${secretRefField(name)}, or writeConnectionSecretToRef for a generated value to be kept in`)
    const kept = await readSecretKey(turn.kit.client, { ...key, key: name }, turn.signal)
    const value = kept ?? made(turn, node.sensitive.length)
    turn.secrets.add(value)
    if (kept === undefined) await publishConnection(turn.kit.client, turn.managed, key, { [name]: value }, turn.signal)
    filled = set(filled, path, value)
  }
  return filled
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
  const key = connectionSecretOf(turn.managed)
  if (!key) return
  for (const value of Object.values(details)) if (value !== undefined) turn.secrets.addDetail(value)
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
