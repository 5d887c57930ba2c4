import { apiVersionOf } from '@crosstie/kube'
import { type Command, EXIT_OK, UsageError } from '../command.js'
import { accessOptions, openApi } from '../shared/access.js'
import { explainLines, fieldTree, readSchema } from './explain.js'

export const explain: Command = {
  name: 'explain',
  usage: 'crosstie explain KIND[.PATH] [--recursive]',
  summary: 'Tell what fields a kind has, and what they mean.',
  details: 'Asks the server, so it knows every kind that the server has.',
  examples: [
    { does: 'What a claim can say', line: 'crosstie explain postgresqlinstance.spec' },
    { does: 'All fields at once', line: 'crosstie explain postgresqlinstance --recursive' },
  ],
  options: {
    recursive: { type: 'boolean', help: 'All fields below, without their meanings' },
    ...accessOptions,
  },
  exits: { 2: 'there is no such kind or field' },
  completes: 'kinds',
  async run(input) {
    const { words, out, values, paint, progress } = input
    const [word, ...more] = words
    if (!word || more.length > 0) throw new UsageError('say one kind, with a path if you like: postgresqlinstance.spec')
    using api = await openApi(input)
    const lines = await progress.during('reading the schema', async () => {
      const kinds = await api.kinds()
      // The dots of a group and those of a path look alike: the longest kind wins.
      const parts = word.split('.')
      const length = parts.findLastIndex((_, i) => kinds.find(parts.slice(0, i + 1).join('.')) !== undefined) + 1
      const kind = kinds.one(parts.slice(0, Math.max(length, 1)).join('.'))
      const schema = await readSchema(api.client, kind)
      const path = parts.slice(Math.max(length, 1))
      const title = [`KIND:     ${paint.bold(kind.kind)}`, `VERSION:  ${apiVersionOf(kind)}`]
      const body = values['recursive'] ? fieldTree(schema, path) : explainLines(schema, path, paint)
      return [...title, ...body]
    })
    for (const line of lines) out(line)
    return EXIT_OK
  },
}
