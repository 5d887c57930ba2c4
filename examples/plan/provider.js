// A provider for trying out plans: folders and notes on this machine, so that what happens can be seen with `ls` and `cat`.
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { absent, defineManaged, defineProvider, present, s } from '@crosstie/resources/provider'

/** Below this folder everything is kept. */
const root = process.env.NOTES ?? '/tmp/notes'

const group = 'notes.example.org'
const version = 'v1alpha1'

/** A text, or undefined when there is no such file. */
const textOf = (path) =>
  readFile(path, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })

/** Names come from users: one that leads out of its folder is refused before anything is touched. */
function pathOf(...names) {
  for (const name of names) if (!/^\w[\w.-]*$/.test(name)) throw new Error(`'${name}' is no plain name`)
  return join(root, ...names)
}

async function lookAtFolder(id) {
  const label = await textOf(join(pathOf(id), '.label'))
  if (label === undefined) return absent
  return present({ externalName: id, ready: true, atProvider: { label, id }, connection: { path: pathOf(id) } })
}

/** A folder. Nobody knows how it will be called before it is made, as with a VPC. */
const folder = defineManaged({
  group,
  version,
  kind: 'Folder',
  doc: 'A folder for notes.',
  parameters: s.object({ label: s.string({ doc: 'What it is for.' }) }),
  observation: s.object({ id: s.string({ doc: 'How it is called.' }) }),
  naming: 'provider-assigned',
  connect: () => null,
  observe: ({ externalName }) => (externalName === '' ? Promise.resolve(absent) : lookAtFolder(externalName)),
  async create({ forProvider: { label } }) {
    await mkdir(root, { recursive: true })
    const path = await mkdtemp(join(root, 'folder-'))
    await writeFile(join(path, '.label'), label)
    return { externalName: path.slice(root.length + 1) }
  },
  async update({ externalName, changed }) {
    if (changed.label !== undefined) await writeFile(join(pathOf(externalName), '.label'), changed.label)
  },
  async delete({ externalName }) {
    if (externalName !== '') await rm(pathOf(externalName), { recursive: true, force: true })
  },
  async list() {
    const names = await readdir(root).catch(() => [])
    const sights = await Promise.all(names.filter((name) => name.startsWith('folder-')).map(lookAtFolder))
    return sights.filter((sight) => sight.exists)
  },
})

const parse = (text) => JSON.parse(text)

/** A note in a folder, with an owner, and locked if it has a PIN. */
const note = defineManaged({
  group,
  version,
  kind: 'Note',
  doc: 'A note.',
  parameters: s.object({
    folderId: s.reference(s.string({ doc: 'The folder that it is in.', immutable: true }), { to: () => folder.type }),
    text: s.string({ doc: 'What it says.' }),
    owner: s.optional(s.string({ doc: 'Whose it is; nobody in particular when this is left open.' })),
    pin: s.optional(s.sensitive({ doc: 'Opens it.' })),
  }),
  observation: s.object({ length: s.integer({ doc: 'How long it is.' }) }),
  naming: 'user-chosen',
  idempotentCreate: true,
  connect: () => null,
  async observe({ externalName, forProvider: { folderId } }) {
    const held = folderId && (await textOf(pathOf(folderId, externalName)))
    if (!held) return absent
    const { text, owner } = parse(held)
    return present({ ready: true, atProvider: { folderId, text, owner, length: text.length } })
  },
  async create({ externalName, forProvider: { folderId, text, owner = 'nobody', pin } }) {
    await writeFile(pathOf(folderId, externalName), JSON.stringify({ text, owner, lock: lockOf(pin) }))
    return pin ? { connection: { pin } } : {}
  },
  async update({ externalName, forProvider: { folderId }, changed: { pin, ...values } }) {
    const path = pathOf(folderId, externalName)
    const held = parse(await readFile(path, 'utf8'))
    await writeFile(path, JSON.stringify({ ...held, ...values, ...(pin ? { lock: lockOf(pin) } : {}) }))
  },
  async delete({ externalName, forProvider: { folderId } }) {
    if (folderId) await rm(pathOf(folderId, externalName), { force: true })
  },
})

const lockOf = (pin) => pin && createHash('sha256').update(pin).digest('hex')

export const provider = defineProvider({
  name: 'notes',
  summary: 'Folders and notes on this machine.',
  kinds: [folder, note],
})
