import { chmod, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { absent, defineManaged, defineProvider, present, s } from '@crosstie/resources/provider'

/** Below this folder all files of this provider are kept. */
const root = process.env['TEXTFILES'] ?? '/tmp/textfiles'

/** Names come from users: one that leads out of its folder is refused before anything is touched. */
function pathOf(folder: string, name: string): string {
  for (const part of [folder, name]) {
    if (!/^[\w][\w.-]*$/.test(part))
      throw new Error(`'${part}' is no plain name: use letters, digits, '.', '-' and '_'`)
  }
  return join(root, folder, name)
}

async function look(folder: string, name: string) {
  const path = pathOf(folder, name)
  try {
    const [content, { mode, mtime }] = await Promise.all([readFile(path, 'utf8'), stat(path)])
    const atProvider = { folder, content, mode: (mode & 0o777).toString(8), path, modified: mtime.toISOString() }
    return present({ externalName: name, ready: true, atProvider, connection: { path } })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return absent
    throw error
  }
}

/** Whole or not at all: a reader never sees half of it. */
async function write(path: string, content: string): Promise<void> {
  const draft = `${path}.draft`
  await writeFile(draft, content)
  await rename(draft, path)
}

/** A file with the text that it was given. */
export const textFile = defineManaged({
  group: 'files.example.org',
  version: 'v1alpha1',
  kind: 'TextFile',
  doc: 'A text file on the machine that the controllers run on.',
  parameters: s.object({
    folder: s.identifier(s.string({ doc: 'The folder that it is in.' })),
    content: s.string({ doc: 'What it says.' }),
    mode: s.optional(s.string({ doc: 'Who may do what with it, such as 640.', pattern: '^[0-7]{3}$' })),
  }),
  observation: s.object({
    path: s.string({ doc: 'Where it is.' }),
    modified: s.string({ doc: 'When it was last written.' }),
  }),
  naming: 'user-chosen',
  idempotentCreate: true,

  connect: () => null,

  observe: ({ forProvider, externalName }) =>
    externalName === '' ? Promise.resolve(absent) : look(forProvider.folder, externalName),

  async create({ forProvider: { folder, content, mode }, externalName }) {
    const path = pathOf(folder, externalName)
    await mkdir(join(root, folder), { recursive: true })
    await write(path, content)
    if (mode) await chmod(path, Number.parseInt(mode, 8))
    return {}
  },

  async update({ forProvider: { folder }, externalName, changed }) {
    const path = pathOf(folder, externalName)
    if (changed.content !== undefined) {
      const { mode } = await stat(path)
      await write(path, changed.content)
      await chmod(path, mode)
    }
    if (changed.mode !== undefined) await chmod(path, Number.parseInt(changed.mode, 8))
  },

  async delete({ forProvider: { folder }, externalName }) {
    await rm(pathOf(folder, externalName), { force: true })
  },

  async list({ forProvider: { folder } }) {
    const names = await readdir(join(root, folder)).catch(() => [])
    const sights = await Promise.all(names.map((name) => look(folder, name)))
    return sights.filter((observed) => observed.exists)
  },
})

export const provider = defineProvider({
  name: 'files',
  summary: 'Text files on this machine.',
  kinds: [textFile],
})
