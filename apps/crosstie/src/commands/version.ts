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
  // One folder up from the bundle, two from where it was compiled to.
  for (const path of ['../package.json', '../../package.json']) {
    const text = await readFile(new URL(path, import.meta.url), 'utf8').catch(() => '{}')
    const { name, version } = JSON.parse(text) as { name?: string; version?: string }
    if (name === 'crosstie' && version) return version
  }
  throw new Error('cannot find the package.json of crosstie')
}
