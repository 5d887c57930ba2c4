import { nameOf, parseApiVersion } from '@crosstie/kube'
import type { DiscoveredItem, FieldMatch } from '@crosstie/resources'
import { type Command, EXIT_FAILED, EXIT_OK, type Input, textOf, textsOf, UsageError } from '../command.js'
import { accessOptions, namespaceOptions, openApi } from '../shared/access.js'
import { encoded, objectName } from '../shared/output.js'
import { localOption } from '../shared/requests.js'
import { painted, table } from '../shared/table.js'
import { findByRequest, findHere } from './finding.js'
import { asYaml, counted, type Destination, destinationOf, writeManifests } from './imports.js'

/** The command `crosstie discover`. */
export const discover: Command = {
  name: 'discover',
  usage: 'crosstie discover PROVIDER KIND... [--region NAME] [--filter FIELD=VALUE] [-o FILE|FOLDER/]',
  summary: 'List external resources, and write manifests that only observe them.',
  details: `The control plane lists them with its own credentials; the command creates DiscoveryRequests in the namespace and
deletes them. Nothing else changes anywhere. With -o the command writes a manifest for each resource that has no object
yet: the external name, the identifying fields, managementPolicies ["Observe"], and references among the resources. The
manifests hold no secrets. Apply them; then 'crosstie promote' makes the resources managed. KIND may be 'all'. With
--local this process lists the resources, with the credentials that it finds here.`,
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
    ...namespaceOptions,
    ...localOption,
    ...accessOptions,
  },
  exits: { 1: 'at least one kind could not be listed; the resources of the others are shown' },
  async run(input) {
    const { values, words, progress, paint } = input
    const [provider, ...kindWords] = words
    if (!provider) throw new UsageError('name a provider and kinds, such as: aws vpc')
    const where = destinationOf(textOf(values, 'output'))
    const filters = textsOf(values, 'filter').map(parseFilter)
    const identifiers = identifiersOf(values)
    if (kindWords.length === 0) {
      throw new UsageError(`name kinds of ${provider}, separated by spaces, or all: crosstie discover ${provider} all`)
    }
    using api = await openApi(input)
    const providerConfig = String(values['provider-config'])
    const search = { provider, kinds: kindWords, providerConfig, identifiers, filters }
    const find = values['local'] === true ? findHere : findByRequest
    const { items, errors } = await progress.during('listing external resources', () => find(input, api, search))
    await show(input, where, items)
    for (const { message } of errors) input.err(`${paint.red('error:')} ${message}`)
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
  found: readonly DiscoveredItem[],
): Promise<void> {
  const fresh = found.filter(({ object }) => !object).map(({ manifest }) => manifest)
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

function stateOf({ object, ...item }: DiscoveredItem): string {
  if (!object) return 'new'
  return `${object.manages ? 'managed' : 'observed'} as ${objectName({ ...typeOf(item), resource: '', namespaced: false }, object.name)}`
}

function row(found: DiscoveredItem): readonly string[] {
  const { kind, manifest, externalName, identifiers } = found
  const where = Object.values(identifiers).join(' ') || '-'
  return [kind, nameOf(manifest), externalName, where, stateOf(found)]
}

function forPrograms({ manifest, object, externalName, identifiers, ...item }: DiscoveredItem) {
  const { name } = manifest.metadata
  return { ...typeOf(item), name, externalName, identifiers, ...(object ? { object } : {}) }
}

function typeOf({ apiVersion, kind }: Pick<DiscoveredItem, 'apiVersion' | 'kind'>) {
  const { group = '', version = '' } = parseApiVersion(apiVersion) ?? {}
  return { group, version, kind }
}
