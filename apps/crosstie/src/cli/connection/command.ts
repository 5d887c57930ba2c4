import { isNotFound, type KubeObject, type ResourceType } from '@crosstie/kube'
import { type Command, EXIT_OK, type Input, textOf, UsageError } from '../command.js'
import { accessOptions, namespaceOptions, openApi } from '../shared/access.js'
import { table } from '../shared/table.js'
import { connectionUri } from './uri.js'

const SECRETS: ResourceType = { group: '', version: 'v1', kind: 'Secret', resource: 'secrets', namespaced: true }
const formats = ['table', 'env', 'json', 'uri']
const MASK = '••••••••'

/** The command `crosstie connection`. */
export const connection: Command = {
  name: 'connection',
  usage: 'crosstie connection KIND/NAME [-n NAMESPACE] [--show] [--format FORMAT]',
  summary: 'Show the connection details of a claim or a managed resource.',
  details: 'Reads the Secret that the claim or the managed resource writes. Values are shown only with --show.',
  examples: [
    { does: 'The keys', line: 'crosstie connection postgresqlinstance/app' },
    { does: 'Log in', line: 'psql "$(crosstie connection postgresqlinstance/app --show --format uri)"' },
    {
      does: 'As environment variables',
      line: 'eval "$(crosstie connection postgresqlinstance/app --show --format env)"',
    },
  ],
  options: {
    show: { type: 'boolean', help: 'Print the values too' },
    format: { type: 'string', value: 'FORMAT', help: 'table, env, json or uri', default: 'table' },
    prefix: { type: 'string', value: 'TEXT', help: 'The prefix of variable names, for env', default: '' },
    ...namespaceOptions,
    ...accessOptions,
  },
  exits: { 3: 'the object or its Secret does not exist yet' },
  completes: 'objects',
  async run(input) {
    const { values, words, out, err } = input
    const format = String(values['format'])
    if (!formats.includes(format)) throw new UsageError(`--format takes ${formats.join(', ')}, not '${format}'`)
    using api = await openApi(input)
    const { kind, name } = (await api.kinds()).target(words)
    const object = await api.client.get(kind, api.keyOf(kind, name))
    const key = secretOf(object)
    const secret = await api.client.get(SECRETS, key).catch((error) => {
      if (!isNotFound(error)) throw error
      throw Object.assign(new Error(`${object.kind} ${name} has not written the Secret ${key.name} yet`), {
        cause: error,
      })
    })
    const show = values['show'] === true
    const data = Object.entries((secret['data'] ?? {}) as Record<string, string>).sort(([a], [b]) => (a < b ? -1 : 1))
    const decoded = data.map(([field, text]): [string, string] => [field, Buffer.from(text, 'base64').toString('utf8')])
    for (const line of lines(input, format, decoded, show)) out(line)
    if (format === 'table')
      err(`From the Secret ${key.namespace}/${key.name}.${show ? '' : ' --show prints the values.'}`)
    else if (!show) err('The values are masked: --show prints them.')
    return EXIT_OK
  },
}

interface ConnectionSpec {
  readonly writeConnectionSecretToRef?: { readonly name?: string; readonly namespace?: string }
  readonly writeConnectionSecretsToRef?: { readonly name?: string; readonly namespace?: string }
}

/** Returns the Secret of an object's connection details. A Secret is returned itself. */
function secretOf({ apiVersion, kind, metadata, ...rest }: KubeObject) {
  if (kind === 'Secret' && apiVersion === 'v1') return { name: metadata.name!, namespace: metadata.namespace! }
  const spec = (rest['spec'] ?? {}) as ConnectionSpec
  const reference = spec.writeConnectionSecretToRef ?? spec.writeConnectionSecretsToRef
  if (!reference?.name) {
    throw new UsageError(`${kind} ${metadata.name} does not write a Secret: set spec.writeConnectionSecretToRef.name`)
  }
  return { name: reference.name, namespace: reference.namespace ?? metadata.namespace ?? 'default' }
}

function lines({ values, paint }: Input, format: string, data: readonly [string, string][], show: boolean) {
  const shown = data.map(([key, value]): [string, string] => [key, show ? value : MASK])
  switch (format) {
    case 'env':
      return shown.map(([key, value]) => `export ${variable(textOf(values, 'prefix') ?? '', key)}=${quoted(value)}`)
    case 'json':
      return [JSON.stringify(Object.fromEntries(shown), null, 2)]
    case 'uri':
      return [connectionUri(Object.fromEntries(data), show ? (text) => text : () => MASK)]
    default: {
      const cells = data.map(([key, value]) => [
        key,
        show ? value.trimEnd() : paint.dim(`${MASK} (${value.length} characters)`),
      ])
      return table([['KEY', 'VALUE'].map(paint.bold), ...cells])
    }
  }
}

const variable = (prefix: string, key: string): string => (prefix + key).toUpperCase().replace(/[^A-Z0-9]+/g, '_')

/** Quotes a text for a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
