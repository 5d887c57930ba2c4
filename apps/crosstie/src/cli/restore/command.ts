import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { restoreBackup } from '@crosstie/apiserver'
import { type Command, EXIT_OK, UsageError } from '../command.js'

/** The command `crosstie restore`. */
export const restore: Command = {
  name: 'restore',
  usage: 'crosstie restore FILE [--data-dir DIR] [--force]',
  summary: 'Restore a backup into an empty data directory. The server must not be running.',
  options: {
    'data-dir': { type: 'string', value: 'DIR', help: 'The data directory', default: '.crosstie' },
    force: { type: 'boolean', help: 'Replace existing data, which is moved aside and not deleted' },
  },
  async run({ values, words, out, progress }) {
    const [file, ...rest] = words
    if (!file || rest.length > 0) throw new UsageError('name the one backup file to restore')
    if (!existsSync(file)) throw new UsageError(`the file ${file} does not exist`)
    const dataDir = resolve(String(values['data-dir']))
    const force = values['force'] === true
    const { revision, objects } = await progress.during('bringing it back', () =>
      restoreBackup(resolve(file), dataDir, { force }),
    )
    out(`restored ${objects} objects at revision ${revision} into ${dataDir}`)
    out(`Start it with: crosstie up --data-dir ${dataDir}`)
    return EXIT_OK
  },
}
