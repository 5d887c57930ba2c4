import { readFile, writeFile } from 'node:fs/promises'
import { attempt } from '@crosstie/kube'
import { migrateLive, migrateManifest } from '@crosstie/resources'
import { accessOptions, openClient } from '../cli/access.js'
import { type Command, EXIT_FAILED, EXIT_OK } from '../command.js'

export const migrate: Command = {
  name: 'migrate',
  usage: 'crosstie migrate [FILE...] [--dry-run] [--kubeconfig FILE]',
  summary: 'Write the old managementPolicy as managementPolicies: in manifests, or without files in live objects.',
  options: {
    'dry-run': { type: 'boolean', help: 'Change nothing, and tell what would be' },
    ...accessOptions,
  },
  async run({ values, words, signal, out, err }) {
    const dryRun = values['dry-run'] === true
    const done = dryRun ? 'would be migrated' : 'migrated'
    if (words.length > 0) {
      let unclear = 0
      for (const file of words) unclear += await migrateFile(file, dryRun, out, err)
      return unclear > 0 ? EXIT_FAILED : EXIT_OK
    }
    using client = await openClient(values)
    const count = await migrateLive({ client, dryRun, tell: out, signal })
    out(`${count} live objects ${done}`)
    return EXIT_OK
  },
}

/** Returns how many old policies are left that somebody must look at. */
async function migrateFile(
  file: string,
  dryRun: boolean,
  out: (line: string) => void,
  err: (line: string) => void,
): Promise<number> {
  const before = await attempt(`read ${file}`, () => readFile(file, 'utf8'))
  const { text, changed, unclear } = migrateManifest(before)
  if (changed > 0 && !dryRun) await attempt(`write ${file}`, () => writeFile(file, text))
  out(`${file}: ${changed} ${dryRun ? 'would be migrated' : 'migrated'}`)
  for (const line of unclear) err(`${file}:${line}: an old policy in a form that must be changed by hand`)
  return unclear.length
}
