import { access, chmod, mkdtemp, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { kindContract } from '@crosstie/resources/testing'

const root = await mkdtemp(join(tmpdir(), 'textfiles-'))
process.env['TEXTFILES'] = root
const { textFile } = await import('./provider.js')

const fileOf = (name: string) => join(root, 'notes', name)
const exists = (name: string) =>
  access(fileOf(name)).then(
    () => true,
    () => false,
  )

kindContract('TextFile', async () => ({
  kind: textFile,
  example: { folder: 'notes', content: 'buy milk', mode: '640' },
  change: { content: 'buy bread' },
  meddle: (name) => chmod(fileOf(name), 0o600),
  exists,
  count: async () => (await readdir(join(root, 'notes')).catch(() => [])).length,
}))
