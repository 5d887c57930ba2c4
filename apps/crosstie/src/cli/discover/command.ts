import { type KubeObject, messageOf } from '@crosstie/kube'
import {
  DiscoverError,
  type Discovered,
  discover as discoverAll,
  type FieldMatch,
  FilterError,
} from '@crosstie/resources'
import { callBudgets } from '../../daemon/budgets.js'
import { loadRegistry } from '../../daemon/registry.js'
import { type Command, EXIT_FAILED, EXIT_OK, type Input, textOf, textsOf, UsageError } from '../command.js'
import { accessOptions, openApi } from '../shared/access.js'
import { encoded, objectName } from '../shared/output.js'
import { painted, table } from '../shared/table.js'
import {
  asYaml,
  counted,
  type Destination,
  destinationOf,
  managedKind,
  surroundings,
  writeManifests,
} from './imports.js'

/** The command `crosstie discover`. */
export const discover: Command = {
  name: 'discover',
  usage: 'crosstie discover PROVIDER KIND... [--region NAME] [--filter FIELD=VALUE] [-o FILE|FOLDER/]',
  summary: 'List external resources of a provider, and write manifests that observe them.',
  details: `Nothing is changed anywhere: the provider is asked for lists, and the server for what it has already.
With -o the manifests of what no object stands for yet are written: the external name, where it is,
managementPolicies ["Observe"], and references among what was found. They hold no secrets. Apply them,
and 'crosstie promote' makes what they show managed. KIND may be 'all'.`,
  examples: [
    { does: 'List resources', line: 'crosstie discover aws vpc subnet --region eu-central-1' },
    {
      does: 'The resources of one team, as manifests',
      line: 'crosstie discover aws all --region eu-central-1 --filter tags.team=payments -o imported/',
    },
    { does: 'Observe them from now on', line: 'crosstie discover sql role database -o yaml | crosstie apply -f -' },
  ],
  options: {
    filter: {
      type: 'string',
      multiple: true,
      value: 'FIELD=VALUE',
      help: 'Only resources whose field has the value, or has not with !=; * matches any text (repeatable, all must match)',
    },
    region: { type: 'string', multiple: true, value: 'NAME', help: 'The region (repeatable, or separated by commas)' },
    identifier: {
      type: 'string',
      multiple: true,
      value: 'FIELD=VALUE',
      help: 'Another field that identifies the location (repeatable)',
    },
    'provider-config': { type: 'string', value: 'NAME', help: 'Whose credentials', default: 'default' },
    output: {
      type: 'string',
      short: 'o',
      value: 'WHERE',
      help: 'table, json, yaml, a file.yaml or a folder/',
      default: 'table',
    },
    force: { type: 'boolean', help: 'Overwrite files with different content' },
    ...accessOptions,
  },
  exits: { 1: 'at least one kind could not be listed; the resources of the others are shown' },
  async run(input) {
    const { values, words, signal, progress, paint } = input
    const [provider, ...kindWords] = words
    if (!provider) throw new UsageError('name a provider and kinds, such as: aws vpc')
    const where = destinationOf(textOf(values, 'output'))
    const filters = textsOf(values, 'filter').map(parseFilter)
    const identifiers = identifiersOf(values)
    const { kinds: known } = await loadRegistry([provider])
    const listing = known.filter(({ query }) => query)
    if (kindWords.length === 0) {
      const names = listing.map(({ type }) => type.kind).join(', ')
      throw new UsageError(`name kinds of ${provider}, separated by spaces, or all. Available: ${names}`)
    }
    const kinds = kindWords.includes('all') ? listing : [...new Set(kindWords.map((word) => managedKind(known, word)))]
    using api = await openApi(input)
    const reach = { client: api.client, surroundings, budgets: callBudgets() }
    const providerConfig = String(values['provider-config'])
    const looking = ({ type: { kind } }: { type: { kind: string } }) => progress.say(`looking for ${kind}`)
    const errors: string[] = []
    const failed = (_: unknown, error: unknown) => errors.push(messageOf(error))
    const options = { reach, kinds, known, identifiers, providerConfig, filters, looking, failed }
    const found = await progress
      .during('looking', () => discoverAll(options, signal))
      .catch((error) => {
        if (error instanceof FilterError || error instanceof DiscoverError) throw new UsageError(error.message)
        throw error
      })
    await show(input, where, found)
    for (const error of errors) input.err(`${paint.red('error:')} ${error}`)
    return errors.length > 0 ? EXIT_FAILED : EXIT_OK
  },
}

function parseFilter(text: string): FieldMatch {
  const [, path, not, wanted] = /^([^=!]+)(!?)=(.*)$/s.exec(text) ?? []
  if (!path)
    throw new UsageError(`--filter takes FIELD=VALUE or FIELD!=VALUE, such as tags.team=payments, not '${text}'`)
  return { path: path.trim(), wanted: wanted ?? '', not: not === '!' }
}

function identifiersOf(values: Input['values']): Readonly<Record<string, readonly string[]>> {
  const given: Record<string, string[]> = {}
  const regions = textsOf(values, 'region').flatMap((text) => text.split(',').filter(Boolean))
  if (regions.length > 0) given['region'] = regions
  for (const text of textsOf(values, 'identifier')) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
    if (!name || value === undefined) throw new UsageError(`--identifier takes FIELD=VALUE, not '${text}'`)
    given[name] = [...(given[name] ?? []), value]
  }
  return given
}

async function show(
  { values, out, err, paint }: Input,
  where: Destination,
  found: readonly Discovered[],
): Promise<void> {
  const fresh = found.filter(({ by }) => !by).map(manifestOf)
  const counts = `${found.length} found, ${fresh.length} new, ${found.length - fresh.length} with an object already.`
  if ('path' in where) {
    const files = fresh.length > 0 ? await writeManifests(where, fresh, values['force'] === true) : 0
    out(`${where.path}: ${counted(files, 'file')} with ${counted(fresh.length, 'manifest')}`)
    out(counts)
    if (files > 0) out(`Next: crosstie apply -f ${where.path}, then crosstie promote -f ${where.path}`)
    return
  }
  if (where.to === 'json') out(encoded('json', { resources: found.map(forPrograms) }))
  else if (where.to === 'yaml') out(asYaml(fresh).trimEnd())
  else if (found.length > 0) {
    const rows = [['KIND', 'NAME', 'EXTERNAL-NAME', 'WHERE', 'STATE'], ...found.map(row)]
    for (const line of table(painted(paint, rows))) out(line)
  }
  // Output for programs contains only data.
  if (where.to === 'table') out(counts)
  else err(counts)
}

/** Returns the manifest for a file, without observed state. */
export function manifestOf({ object }: { readonly object: KubeObject }): KubeObject {
  const { status: _, ...manifest } = object
  return manifest as KubeObject
}

function stateOf({ kind, by }: Discovered): string {
  if (!by) return 'new'
  return `${by.manages ? 'managed' : 'observed'} as ${objectName(kind.type, by.name)}`
}

function row(found: Discovered): readonly string[] {
  const { kind, object, externalName, identifiers } = found
  const where = Object.values(identifiers).join(' ') || '-'
  return [kind.type.kind, object.metadata.name!, externalName, where, stateOf(found)]
}

function forPrograms({ kind, object, externalName, identifiers, by }: Discovered) {
  const { group, version } = kind.type
  const name = object.metadata.name
  return { group, version, kind: kind.type.kind, name, externalName, identifiers, ...(by ? { object: by } : {}) }
}
