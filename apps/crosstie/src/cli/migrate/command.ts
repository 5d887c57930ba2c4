import { readFile, writeFile } from 'node:fs/promises'
import { attempt } from '@crosstie/kube'
import { type Looked, type Migration, migrateLive, migrateManifest } from '@crosstie/resources'
import { type Command, EXIT_FAILED, EXIT_OK, type Input } from '../command.js'
import { accessOptions, openApi } from '../shared/access.js'
import { encoded, objectName, outputOf, outputOptions } from '../shared/output.js'
import { painted, table } from '../shared/table.js'

const formats = ['table', 'json']

/** The command `crosstie migrate`. */
export const migrate: Command = {
  name: 'migrate',
  usage: 'crosstie migrate [FILE...] [--yes]',
  summary: 'Convert managementPolicy and deletionPolicy to managementPolicies, in files or in live objects.',
  details: `Nothing is changed without --yes. A live object is paused during the change. A later run continues\nan interrupted one. External resources are not affected: the new fields have the same meaning.`,
  examples: [
    { does: 'Show what would change on the server', line: 'crosstie migrate' },
    { does: 'Do it', line: 'crosstie migrate --yes' },
    { does: 'Rewrite manifests in place and keep comments', line: 'crosstie migrate --yes infrastructure/*.yaml' },
  ],
  options: {
    yes: { type: 'boolean', short: 'y', help: 'Perform the changes; otherwise they are only shown' },
    ...outputOptions(...formats),
    ...accessOptions,
  },
  exits: { 1: 'an object could not be migrated, or a file has a policy that must be changed by hand' },
  completes: 'files',
  async run(input) {
    const { format } = outputOf(input.values, ...formats)
    return input.words.length > 0 ? await migrateFiles(input, format) : await migrateObjects(input, format)
  },
}

async function migrateObjects(input: Input, format: string): Promise<number> {
  const { values, signal, out, err, paint, progress } = input
  const dryRun = values['yes'] !== true
  using api = await openApi(input)
  let found = 0
  const all = await progress.during('looking for old policies', () =>
    migrateLive({
      client: api.client,
      dryRun,
      signal,
      told: () => found++,
      looked: (at) => progress.say(howFar(at, found, dryRun)),
    }),
  )
  const failed = all.filter(({ outcome }) => outcome === 'failed')
  if (format === 'json') out(encoded('json', { dryRun, objects: all.map(forPrograms) }))
  else if (all.length === 0) out('All objects have managementPolicies.')
  else {
    for (const line of table(painted(paint, [['OBJECT', 'BEFORE', 'AFTER', 'OUTCOME'], ...all.map(row)]))) out(line)
    out('')
    if (dryRun) out(`${all.length} would be migrated. Run 'crosstie migrate --yes' to do it.`)
    else out(`${all.length - failed.length} migrated${failed.length > 0 ? `, ${failed.length} not` : ''}.`)
  }
  for (const { error } of failed) err(`error: ${error}`)
  return failed.length > 0 ? EXIT_FAILED : EXIT_OK
}

/** Returns the progress line. The counts come first, since a narrow terminal cuts the line. */
export function howFar({ type, name, kind, kinds, objects }: Looked, found: number, dryRun: boolean): string {
  const done = `${found} ${dryRun ? 'to migrate' : 'migrated'}`
  return `${objects} checked, ${done}; kind ${kind} of ${kinds}: ${objectName(type, name)}`
}

const nameOf = ({ type, name, namespace }: Migration): string =>
  `${objectName(type, name)}${namespace ? ` -n ${namespace}` : ''}`

function row(migration: Migration): readonly string[] {
  const { managementPolicy, managementPolicies, deletionPolicy } = migration.before
  const old = managementPolicy ?? (managementPolicies === undefined ? '' : shown(managementPolicies))
  const before = [old, deletionPolicy].filter(Boolean).join(', ')
  return [nameOf(migration), before || 'paused by a migration', shown(migration.after), migration.outcome]
}

const shown = (policies: readonly string[] | string | null): string =>
  typeof policies === 'string' ? policies : `[${(policies ?? []).join(' ')}]`

function forPrograms({ type, name, namespace, before, after, outcome, error }: Migration) {
  const { group, version, kind } = type
  return { group, version, kind, name, namespace, before, after, outcome, error }
}

async function migrateFiles({ values, words, out, err }: Input, format: string): Promise<number> {
  const dryRun = values['yes'] !== true
  const files = []
  for (const file of words) {
    const before = await attempt(`read ${file}`, () => readFile(file, 'utf8'))
    const { text, changed, unclear } = migrateManifest(before)
    if (changed > 0 && !dryRun) await attempt(`write ${file}`, () => writeFile(file, text))
    files.push({ file, changed, unclear })
  }
  if (format === 'json') out(encoded('json', { dryRun, files }))
  else for (const { file, changed } of files) out(`${file}: ${changed} ${dryRun ? 'would be migrated' : 'migrated'}`)
  for (const { file, unclear } of files) {
    for (const line of unclear) err(`${file}:${line}: an old policy in a form that must be changed by hand`)
  }
  return files.some(({ unclear }) => unclear.length > 0) ? EXIT_FAILED : EXIT_OK
}
