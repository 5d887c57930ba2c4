import { isExpired, type KubeObject } from '@crosstie/kube'
import { type Command, EXIT_OK, type Input, textOf } from '../command.js'
import { type Api, accessOptions, namespaceOptions, openApi } from '../shared/access.js'
import { encodedObjects, outputOf, outputOptions, withoutManagedFields } from '../shared/output.js'
import { table } from '../shared/table.js'
import { byTime, EVENT_HEADING, EVENTS, eventRow, eventsOf, type KubeEvent, timeOf } from './events.js'

const formats = ['table', 'json', 'yaml']

/** The command `crosstie events`. */
export const events: Command = {
  name: 'events',
  usage: 'crosstie events [KIND/NAME] [-n NAMESPACE | -A] [--watch] [-o FORMAT]',
  summary: 'Show the events of one object or of a namespace.',
  details: 'Without an object: all events of the namespace, the latest last. The server keeps events for an hour.',
  examples: [
    { does: 'The events of a database', line: 'crosstie events postgresqlinstance/app' },
    { does: 'All warnings, continuously', line: 'crosstie events -A --type Warning --watch' },
  ],
  options: {
    ...namespaceOptions,
    'all-namespaces': { type: 'boolean', short: 'A', help: 'In every namespace' },
    watch: { type: 'boolean', short: 'w', help: 'Continue, and show new events' },
    type: { type: 'string', value: 'TYPE', help: 'Only Normal or only Warning' },
    ...outputOptions(...formats),
    ...accessOptions,
  },
  completes: 'objects',
  async run(input) {
    const output = outputOf(input.values, ...formats)
    using api = await openApi(input)
    const where = await input.progress.during('asking the server', () => selection(input, api))
    const { items, metadata } = await api.client.list<KubeEvent>(EVENTS, { ...where, signal: input.signal })
    const found = items.toSorted(byTime)
    const watch = input.values['watch'] === true
    if (output.format !== 'table' && !watch) input.out(encodedObjects(output, found, false)!)
    else if (output.format !== 'table') for (const event of found) show(input, event, output.format)
    else if (found.length > 0) {
      for (const line of table([EVENT_HEADING.map(input.paint.bold), ...found.map((e) => eventRow(e, input.paint))])) {
        input.out(line)
      }
    } else if (!watch) input.err('No events found. The server keeps events for an hour.')
    if (watch) await follow(input, api, { ...where, resourceVersion: metadata.resourceVersion }, output.format)
    return EXIT_OK
  },
}

type Selection = { readonly namespace?: string; readonly fieldSelector?: string }

async function selection({ values, words }: Input, api: Api): Promise<Selection> {
  const type = textOf(values, 'type')
  const only = type ? `type=${type}` : ''
  if (words.length === 0) {
    const everywhere = values['all-namespaces'] === true
    return { ...(everywhere ? {} : { namespace: api.namespace }), ...(only ? { fieldSelector: only } : {}) }
  }
  const { kind, name } = (await api.kinds()).target(words)
  const object = await api.client.get(kind, api.keyOf(kind, name))
  const { namespace, fieldSelector } = eventsOf(object)
  return { namespace, fieldSelector: [fieldSelector, only].filter(Boolean).join(',') }
}

/** Prints events until it is interrupted. */
async function follow(input: Input, api: Api, from: Selection & { resourceVersion?: string }, format: string) {
  const { signal } = input
  let { resourceVersion } = from
  while (!signal.aborted) {
    try {
      for await (const { type, object } of api.client.watch<KubeEvent>(EVENTS, { ...from, resourceVersion, signal })) {
        resourceVersion = object.metadata.resourceVersion
        if (type === 'ADDED' || type === 'MODIFIED') show(input, object as KubeEvent, format)
      }
    } catch (error) {
      if (!isExpired(error)) throw error
      resourceVersion = (await api.client.list(EVENTS, { ...from, limit: 1, signal })).metadata.resourceVersion
    }
  }
}

function show({ out, paint }: Input, event: KubeEvent, format: string): void {
  if (format !== 'table') {
    out(encodedObjects({ format, path: '' }, [withoutManagedFields(event as KubeObject)], true)!)
    return
  }
  const [, ...cells] = eventRow(event, paint)
  const time = timeOf(event)
  out([time ? new Date(time).toLocaleTimeString('en-GB') : '', ...cells].join('  '))
}
