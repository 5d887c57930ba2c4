import { isNotFound, messageOf, StatusError } from '@crosstie/kube'
import { type Command, EXIT_OK, textOf } from '../command.js'
import { accessOptions, namespaceOptions, openApi } from '../shared/access.js'
import { listAll } from '../shared/objects.js'
import { describeObject } from './describe.js'

/** The command `crosstie describe`. */
export const describe: Command = {
  name: 'describe',
  usage: 'crosstie describe KIND/NAME... [-n NAMESPACE]',
  summary: 'Show the details of an object: state, drift, references, events.',
  details: 'Values of Secrets are never shown.',
  examples: [{ does: 'Why is it not ready?', line: 'crosstie describe postgresqlinstance/app' }],
  options: {
    ...namespaceOptions,
    selector: { type: 'string', short: 'l', value: 'LABELS', help: 'With KIND: only objects with these labels' },
    ...accessOptions,
  },
  completes: 'objects',
  async run(input) {
    const { words, values, out, progress, signal } = input
    using api = await openApi(input)
    const kinds = await api.kinds()
    let first = true
    for (const { kind, name } of kinds.targets(words)) {
      const where = kind.namespaced ? { namespace: api.namespace } : {}
      const objects = name
        ? [
            await api.client
              .get(kind, api.keyOf(kind, name), { signal })
              .catch(orNamesakes(kinds.namesakes(kind, name))),
          ]
        : await listAll(api.client, kind, { ...where, labelSelector: textOf(values, 'selector'), signal })
      for (const object of objects) {
        if (!first) out('')
        first = false
        const lines = await progress.during('looking around', () => describeObject(api, kinds, object, input.paint))
        for (const line of lines) out(line)
      }
    }
    return EXIT_OK
  },
}

const orNamesakes = (namesakes: string) => (error: unknown) => {
  if (!isNotFound(error) || namesakes === '') throw error
  throw new StatusError(404, 'NotFound', `${messageOf(error)}${namesakes}`, { cause: error })
}
