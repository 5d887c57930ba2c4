import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { loadRegistry } from '../daemon/registry.js'

/** Returns the reference pages of the kinds of all built-in providers, by path below docs/reference. */
export async function referencePages(): Promise<ReadonlyMap<string, string>> {
  const { kinds } = await loadRegistry()
  return new Map(kinds.map((kind) => [`${kind.type.group}/${kind.type.kind}.md`, kind.page()]))
}

/** Returns pages that are missing, outdated or obsolete. */
export async function oldPages(folder: string, pages: ReadonlyMap<string, string>): Promise<readonly string[]> {
  const files = await readdir(folder, { recursive: true })
  // Pages outside of the folders of groups are written by hand.
  const held = files.filter((path) => /^[^/]+\/[^/]+\.md$/.test(path))
  const old = new Set(held.filter((path) => !pages.has(path)))
  for (const [path, text] of pages) {
    const is = held.includes(path) ? await readFile(join(folder, path), 'utf8') : ''
    if (unpadded(is) !== unpadded(text)) old.add(path)
  }
  return [...old].sort()
}

/** Writes pages, and removes obsolete ones. */
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

/** Removes the padding that a formatter may add to tables. */
const unpadded = (text: string) => text.replace(/ +/g, ' ').replace(/-{3,}/g, '---').trim()
