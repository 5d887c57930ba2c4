import { createPrivateKey, X509Certificate } from 'node:crypto'
import { append, equal, type FieldError, fieldErrors, getOwn, isObject, type KubeObject, setOwn } from '@crosstie/kube'
import type { Definition, WriteContext } from '../definitions/definition.js'
import { parseExactly } from '../wire/json-exact.js'
import { ageColumn, column, nameColumn } from './columns.js'
import { type Draft, defineKind } from './kind.js'
import { configKeyErrors } from './names.js'

const DATA_MAX = 1024 * 1024

type Entries = Readonly<Record<string, string>>

const entriesOf = (object: KubeObject, field: string): Entries => (object[field] ?? {}) as Entries
const countOf = (object: KubeObject, field: string): number => Object.keys(entriesOf(object, field)).length

function keyErrors(entries: Entries, field: string): FieldError[] {
  return Object.keys(entries).flatMap((key) =>
    configKeyErrors(key).map((message) => fieldErrors.invalid(`${field}[${key}]`, key, message)),
  )
}

/** Returns the length of the decoded data without decoding it. */
function decodedLength(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  return (base64.length / 4) * 3 - padding
}

function totalOf(entries: Entries, sizeOf: (value: string) => number): number {
  return Object.values(entries).reduce((total, value) => total + sizeOf(value ?? ''), 0)
}

/** `immutable: true` cannot be reverted, and it freezes the data. */
function frozenErrors(object: KubeObject, old: KubeObject, fields: readonly string[]): FieldError[] {
  if (old['immutable'] !== true) return []
  const frozen = (field: string) => fieldErrors.forbidden(field, 'field is immutable when `immutable` is set')
  const changed = fields.filter((field) => !equal(object[field] ?? {}, old[field] ?? {}))
  return [...(object['immutable'] === true ? [] : [frozen('immutable')]), ...changed.map(frozen)]
}

/** Secret. */
export function secretKind(): Definition {
  return defineKind({
    group: '',
    kind: 'Secret',
    plural: 'secrets',
    model: 'io.k8s.api.core.v1.Secret',
    namespaced: true,
    selectableFields: ['.type'],
    columns: [
      nameColumn,
      column('Type', 'string', 'The type of the secret. Some types require certain keys.', ({ type }) => type ?? ''),
      column('Data', 'string', 'The number of entries.', (secret) => countOf(secret, 'data')),
      ageColumn,
    ],
    defaults: secretDefaults,
    strategy: {
      generation: 'never',
      unconditionalUpdate: true,
      createOnUpdate: false,
      nameRule: 'dnsSubdomain',
      validate: (secret, old, { warnings }) => {
        const errors = [
          ...(old ? secretUpdateErrors(secret, old) : []),
          ...keyErrors(entriesOf(secret, 'data'), 'data'),
          ...secretSizeErrors(secret),
          ...secretTypeErrors(secret),
        ]
        if (errors.length === 0) append(warnings, tlsWarnings(secret, old))
        return errors
      },
    },
  })
}

function secretDefaults(secret: Draft): void {
  const { stringData, type = 'Opaque' } = secret
  delete secret['stringData']
  // Removed and added again so that it is the last field, as in the Go type.
  delete secret['type']
  if (isObject(stringData)) secret['data'] = withStrings(secret, stringData)
  secret['type'] = type
}

function withStrings(secret: Draft, stringData: Draft): Draft {
  const data: Record<string, unknown> = {}
  for (const [key, value] of Object.entries((secret['data'] ?? {}) as Entries)) setOwn(data, key, value)
  for (const [key, value] of Object.entries(stringData))
    setOwn(data, key, Buffer.from(value as string).toString('base64'))
  return data
}

function secretUpdateErrors(secret: KubeObject, old: KubeObject): FieldError[] {
  const retyped = secret['type'] === old['type'] ? [] : [immutable('type', secret['type'])]
  return [...retyped, ...frozenErrors(secret, old, ['data'])]
}

/** Returns the error for a change of an immutable field. */
export function immutable(field: string, value: unknown): FieldError {
  return fieldErrors.invalid(field, value, 'field is immutable')
}

function secretSizeErrors(secret: KubeObject): FieldError[] {
  const size = totalOf(entriesOf(secret, 'data'), decodedLength)
  return size > DATA_MAX ? [fieldErrors.tooLong('data', '', DATA_MAX)] : []
}

const SERVICE_ACCOUNT_NAME = 'kubernetes.io/service-account.name'

function secretTypeErrors(secret: KubeObject): FieldError[] {
  const data = entriesOf(secret, 'data')
  const missing = (...keys: string[]) =>
    keys.filter((key) => !Object.hasOwn(data, key)).map((key) => fieldErrors.required(`data[${key}]`))
  switch (secret['type']) {
    case 'kubernetes.io/service-account-token':
      return getOwn((secret.metadata.annotations ?? {}) as Entries, SERVICE_ACCOUNT_NAME)
        ? []
        : [fieldErrors.required(`metadata.annotations[${SERVICE_ACCOUNT_NAME}]`)]
    case 'kubernetes.io/dockercfg':
      return dockerErrors(data, '.dockercfg')
    case 'kubernetes.io/dockerconfigjson':
      return dockerErrors(data, '.dockerconfigjson')
    case 'kubernetes.io/basic-auth': {
      const absent = missing('username', 'password')
      return absent.length === 2 ? absent : []
    }
    case 'kubernetes.io/ssh-auth':
      return getOwn(data, 'ssh-privatekey') ? [] : [fieldErrors.required('data[ssh-privatekey]')]
    case 'kubernetes.io/tls':
      return missing('tls.crt', 'tls.key')
    default:
      return []
  }
}

/** Warns about a certificate that cannot be served. It is stored nevertheless. */
function tlsWarnings(secret: KubeObject, old: KubeObject | undefined): string[] {
  if (secret['type'] !== 'kubernetes.io/tls' || (old && equal(old['data'], secret['data']))) return []
  const data = entriesOf(secret, 'data')
  const pem = (key: string) => Buffer.from(String(getOwn(data, key) ?? ''), 'base64')
  if (!hasPem(pem('tls.crt'))) return ['tls: failed to find any PEM data in certificate input']
  if (!hasPem(pem('tls.key'))) return ['tls: failed to find any PEM data in key input']
  try {
    const matches = new X509Certificate(pem('tls.crt')).checkPrivateKey(createPrivateKey(pem('tls.key')))
    return matches ? [] : ['tls: private key does not match public key']
  } catch {
    return ['tls: failed to parse the certificate or its private key']
  }
}

const hasPem = (bytes: Buffer) => bytes.includes('-----BEGIN ')

function dockerErrors(data: Entries, key: string): FieldError[] {
  const value = getOwn(data, key)
  if (value === undefined) return [fieldErrors.required(`data[${key}]`)]
  const redacted = (why: string) => [fieldErrors.invalid(`data[${key}]`, '<secret contents redacted>', why)]
  try {
    const parsed = parseExactly(Buffer.from(String(value), 'base64').toString('utf8')).value
    if (isObject(parsed) || parsed === null) return []
    const word = Array.isArray(parsed) ? 'array' : typeof parsed === 'boolean' ? 'bool' : typeof parsed
    return redacted(`json: cannot unmarshal ${word} into Go value of type map[string]interface {}`)
  } catch (error) {
    return redacted((error as Error).message)
  }
}

/** ConfigMap. */
export function configMapKind(): Definition {
  return defineKind({
    group: '',
    kind: 'ConfigMap',
    plural: 'configmaps',
    model: 'io.k8s.api.core.v1.ConfigMap',
    namespaced: true,
    shortNames: ['cm'],
    columns: [
      nameColumn,
      column('Data', 'string', 'The number of entries.', (map) => countOf(map, 'data') + countOf(map, 'binaryData')),
      ageColumn,
    ],
    strategy: {
      generation: 'never',
      unconditionalUpdate: true,
      createOnUpdate: false,
      nameRule: 'dnsSubdomain',
      validate: (map, old) => [...(old ? frozenErrors(map, old, ['data', 'binaryData']) : []), ...configMapErrors(map)],
    },
  })
}

function configMapErrors(map: KubeObject): FieldError[] {
  const data = entriesOf(map, 'data')
  const binary = entriesOf(map, 'binaryData')
  const errors = keyErrors(data, 'data')
  for (const key of Object.keys(data)) {
    if (!Object.hasOwn(binary, key)) continue
    errors.push(fieldErrors.invalid(`data[${key}]`, key, 'duplicate of key present in binaryData'))
  }
  append(errors, keyErrors(binary, 'binaryData'))
  const size = totalOf(data, (text) => Buffer.byteLength(text)) + totalOf(binary, decodedLength)
  if (size > DATA_MAX) errors.push(fieldErrors.tooLong('[]', '', DATA_MAX))
  return errors
}

const MOUNTABLE_SECRETS = 'kubernetes.io/enforce-mountable-secrets'

/** ServiceAccount. */
export function serviceAccountKind(): Definition {
  return defineKind({
    group: '',
    kind: 'ServiceAccount',
    plural: 'serviceaccounts',
    model: 'io.k8s.api.core.v1.ServiceAccount',
    namespaced: true,
    shortNames: ['sa'],
    subresources: { token: true },
    columns: [
      nameColumn,
      column(
        'Secrets',
        'string',
        'The number of secrets that the account lists.',
        ({ secrets }) => ((secrets ?? []) as readonly unknown[]).length,
      ),
      ageColumn,
    ],
    strategy: {
      generation: 'never',
      unconditionalUpdate: true,
      createOnUpdate: false,
      nameRule: 'dnsSubdomain',
      prepare(account, old, context) {
        const secrets = account['secrets'] as readonly { readonly name?: string }[] | undefined
        if (secrets) account['secrets'] = secrets.map(({ name }) => (name ? { name } : {}))
        warnOfMountableSecrets(account as unknown as KubeObject, old, context)
      },
    },
  })
}

function warnOfMountableSecrets(account: KubeObject, old: KubeObject | undefined, { warnings }: WriteContext): void {
  const has = (object: KubeObject | undefined) => Object.hasOwn(object?.metadata.annotations ?? {}, MOUNTABLE_SECRETS)
  if (!has(account) || has(old)) return
  warnings.push(
    `metadata.annotations[${MOUNTABLE_SECRETS}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
  )
}
