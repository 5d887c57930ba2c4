// A provider for trying out import: shelves and books, each a file of JSON that anybody can make, change and delete.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { absent, defineManaged, defineProvider, present, s } from '@crosstie/resources/provider'

/** Below this folder there is one folder for each room. */
const root = process.env.LIBRARY ?? './library'

/** Names come from users: one that leads out of its folder is refused before anything is touched. */
function fileOf(room, id) {
  for (const name of [room, id]) if (!/^\w[\w.-]*$/.test(name)) throw new Error(`'${name}' is no plain name`)
  return join(root, room, `${id}.json`)
}

async function read(room, id) {
  try {
    return JSON.parse(await readFile(fileOf(room, id), 'utf8'))
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

const room = s.identifier(s.string({ doc: 'The room that it is in.' }))
const tags = s.optional(s.map(s.string(), { shared: true, doc: 'Labels on its back.' }))

/** One kind of thing that is kept as files whose names begin with a word. */
function kept(kind, word, fields) {
  const sight = (room, id, values) => present({ externalName: id, ready: true, atProvider: { ...values, room, id } })
  return defineManaged({
    group: 'library.example.org',
    version: 'v1alpha1',
    kind,
    doc: `A ${word}.`,
    parameters: s.object({ room, ...fields, tags }),
    observation: s.object({ id: s.string({ doc: 'The number on it.' }) }),
    naming: 'provider-assigned',
    tags: { field: 'tags' },
    connect: () => null,
    async observe({ externalName, forProvider: { room } }) {
      const values = externalName === '' ? undefined : await read(room, externalName)
      return values ? sight(room, externalName, values) : absent
    },
    async create({ forProvider: { room, ...values }, tags }) {
      const id = `${word}-${Date.now()}`
      await mkdir(join(root, room), { recursive: true })
      await writeFile(fileOf(room, id), JSON.stringify({ ...values, tags }))
      return { externalName: id }
    },
    async update({ externalName, forProvider: { room }, changed, removed }) {
      const held = await read(room, externalName)
      // Others set tags, too: only those that changed are written.
      const tags = { ...held.tags, ...changed.tags }
      for (const key of removed.tags ?? []) delete tags[key]
      await writeFile(fileOf(room, externalName), JSON.stringify({ ...held, ...changed, tags }))
    },
    async delete({ externalName, forProvider: { room } }) {
      if (externalName !== '') await rm(fileOf(room, externalName), { force: true })
    },
    async list({ forProvider: { room } }) {
      const files = await readdir(join(root, room)).catch(() => [])
      const ids = files.filter((file) => file.startsWith(`${word}-`)).map((file) => file.replace(/\.json$/, ''))
      return await Promise.all(ids.map(async (id) => sight(room, id, await read(room, id))))
    },
  })
}

const shelf = kept('Shelf', 'shelf', {
  boards: s.integer({ doc: 'How many boards it has.' }),
})

const book = kept('Book', 'book', {
  title: s.string({ doc: 'What it is called.', immutable: true }),
  copies: s.optional(s.integer({ doc: 'How many there are.' })),
  shelfId: s.optional(s.reference(s.string({ doc: 'Where it stands.' }), { to: () => shelf.type })),
})

export const provider = defineProvider({
  name: 'library',
  summary: 'Shelves and books, as files on this machine.',
  kinds: [shelf, book],
})
