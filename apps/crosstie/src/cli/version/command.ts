import { readFile } from 'node:fs/promises'
import { messageOf } from '@crosstie/kube'
import { type Command, EXIT_OK, type Input } from '../command.js'
import { accessOptions, openApi } from '../shared/access.js'
import { isUnreachable } from '../shared/advice.js'
import { encoded, outputOf, outputOptions } from '../shared/output.js'

const formats = ['text', 'json', 'yaml']

/** The command `crosstie version`. */
export const version: Command = {
  name: 'version',
  usage: 'crosstie version [--client] [-o FORMAT]',
  summary: 'Print the versions of this program and of the server.',
  options: {
    client: { type: 'boolean', help: 'Do not connect to the server' },
    ...outputOptions(...formats),
    ...accessOptions,
  },
  words: 0,
  async run(input) {
    const { values, out, err } = input
    const { format } = outputOf(values, ...formats)
    const client = { version: await ownVersion(), node: process.version.slice(1) }
    const found = values['client'] ? undefined : await serverVersion(input)
    const server = typeof found === 'object' ? found : undefined
    if (format !== 'text') out(encoded(format, { client, ...(server ? { server } : {}) }))
    else {
      out(`crosstie ${client.version}`)
      if (server) out(`server   Kubernetes ${server.version} at ${server.address}`)
    }
    if (typeof found === 'string') err(`No server: ${found}`)
    return EXIT_OK
  },
}

/** Returns the version of the server, or the reason why it is not available. */
async function serverVersion(input: Input): Promise<{ version: string; address: string } | string> {
  try {
    using api = await openApi(input)
    const { gitVersion } = await api.client.read<{ gitVersion: string }>('/version', { signal: input.signal })
    return { version: gitVersion, address: api.server }
  } catch (error) {
    if (!isUnreachable(error)) throw error
    return messageOf(error)
  }
}

/** Returns the version of this package. */
export async function ownVersion(): Promise<string> {
  // The package.json is one folder above the bundle and three above the compiled module.
  for (const path of ['../package.json', '../../../package.json']) {
    const text = await readFile(new URL(path, import.meta.url), 'utf8').catch(() => '{}')
    const { name, version } = JSON.parse(text) as { name?: string; version?: string }
    if (name === 'crosstie' && version) return version
  }
  throw new Error('cannot find the package.json of crosstie')
}
