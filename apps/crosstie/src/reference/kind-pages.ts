import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { loadRegistry } from '../daemon/registry.js'

/** The reference page of every kind that our providers bring, by its path below docs/reference. */
export async function referencePages(): Promise<ReadonlyMap<string, string>> {
  const { kinds } = await loadRegistry()
  return new Map(kinds.map((kind) => [`${kind.type.group}/${kind.type.kind}.md`, kind.page()]))
}

/** Pages that are missing, not what the kind says now, or of no kind any more. */
export async function oldPages(folder: string, pages: ReadonlyMap<string, string>): Promise<readonly string[]> {
  const files = await readdir(folder, { recursive: true })
  // Pages beside the folders of groups are written by hand.
  const held = files.filter((path) => /^[^/]+\/[^/]+\.md$/.test(path))
  const old = new Set(held.filter((path) => !pages.has(path)))
  for (const [path, text] of pages) {
    const is = held.includes(path) ? await readFile(join(folder, path), 'utf8') : ''
    if (unpadded(is) !== unpadded(text)) old.add(path)
  }
  return [...old].sort()
}

export async function writePages(folder: string, pages: ReadonlyMap<string, string>, old: readonly string[]) {
  for (const path of old) {
    const file = join(folder, path)
    const text = pages.get(path)
    if (text === undefined) {
      await rm(file)
      continue
    }
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
}

/** Formatters pad tables, which changes nothing. */
const unpadded = (text: string) => text.replace(/ +/g, ' ').replace(/-{3,}/g, '---').trim()
