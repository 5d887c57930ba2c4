import { readFile } from 'node:fs/promises'
import { type Command, EXIT_OK } from '../command.js'

export const version: Command = {
  name: 'version',
  usage: 'crosstie version',
  summary: 'Print the version.',
  options: {},
  async run({ out }) {
    out(`crosstie ${await ownVersion()}`)
    return EXIT_OK
  },
}

export async function ownVersion(): Promise<string> {
  const manifest = await readFile(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
