import { apiVersionOf } from '@crosstie/kube'
import { type Command, EXIT_OK, UsageError } from '../command.js'
import { accessOptions, openApi } from '../shared/access.js'
import { explainLines, fieldTree, readSchema } from './explain.js'

/** The command `crosstie explain`. */
export const explain: Command = {
  name: 'explain',
  usage: 'crosstie explain KIND[.PATH] [--recursive]',
  summary: 'Show the fields of a kind and their documentation.',
  details: 'Reads the schemas of the server, so that it knows every kind that the server serves.',
  examples: [
    { does: 'The fields of a claim', line: 'crosstie explain postgresqlinstance.spec' },
    { does: 'All fields at once', line: 'crosstie explain postgresqlinstance --recursive' },
  ],
  options: {
    recursive: { type: 'boolean', help: 'Show all fields below, without documentation' },
    ...accessOptions,
  },
  exits: { 2: 'the kind or field does not exist' },
  completes: 'kinds',
  async run(input) {
    const { words, out, values, paint, progress } = input
    const [word, ...more] = words
    if (!word || more.length > 0) throw new UsageError('name one kind, optionally with a path: postgresqlinstance.spec')
    using api = await openApi(input)
    const lines = await progress.during('reading the schema', async () => {
      const kinds = await api.kinds()
      // A group and a path both contain dots: the longest kind wins.
      const parts = word.split('.')
      const length = parts.findLastIndex((_, i) => kinds.find(parts.slice(0, i + 1).join('.')) !== undefined) + 1
      const kind = kinds.one(parts.slice(0, Math.max(length, 1)).join('.'))
      const schema = await readSchema(api.client, kind, input.signal)
      const path = parts.slice(Math.max(length, 1))
      const title = [`KIND:     ${paint.bold(kind.kind)}`, `VERSION:  ${apiVersionOf(kind)}`]
      const body = values['recursive'] ? fieldTree(schema, path) : explainLines(schema, path, paint)
      return [...title, ...body]
    })
    for (const line of lines) out(line)
    return EXIT_OK
  },
}
