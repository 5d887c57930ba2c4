import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { encodeYaml } from '@crosstie/apiserver/yaml'
import { type Json, type KubeObject, stringify } from '@crosstie/kube'
import type { ManagedKind } from '@crosstie/resources'
import { didYouMean } from '../../options/suggest.js'
import { UsageError } from '../command.js'
import { isCalled } from '../shared/kinds.js'

/** Options that discover and promote share. */

export const surroundings = {
  environment: process.env,
  readFile: (path: string) => readFile(path, 'utf8'),
}

/** Returns the managed kind that a word refers to. */
export function managedKind(kinds: readonly ManagedKind[], word: string): ManagedKind {
  const found = kinds.filter(({ type }) => isCalled(type, word))
  if (found.length === 1) return found[0]!
  const names = (found.length > 1 ? found : kinds).map(({ type }) => type)
  if (found.length > 1) {
    const list = names.map(({ resource, group }) => `  ${resource}.${group}`).join('\n')
    throw new UsageError(`'${word}' is ambiguous; use one of:\n${list}`)
  }
  const words = names.map(({ kind }) => kind)
  throw new UsageError(`unknown managed kind '${word}'.${didYouMean(word, words)} Available: ${words.join(', ')}`)
}

/** The destination of manifests: none, the screen, one file, or a folder with one file each. */
export type Destination =
  | { readonly to: 'table' | 'json' | 'yaml' }
  | { readonly to: 'file' | 'folder'; readonly path: string }

const isFile = /\.(ya?ml)$/

/** Parses the value of `-o`. Throws a usage error. */
export function destinationOf(text: string | undefined): Destination {
  if (text === undefined || text === 'table') return { to: 'table' }
  if (text === 'json' || text === 'yaml') return { to: text }
  if (isFile.test(text)) return { to: 'file', path: text }
  // The word may be a misspelled format. Creating a folder of that name would be a surprise.
  if (text.includes('/')) return { to: 'folder', path: text }
  throw new UsageError(`-o takes table, json, yaml, a file that ends in .yaml, or a folder such as ${text}/`)
}

/** Formats objects as YAML documents. */
export function asYaml(objects: readonly KubeObject[]): string {
  return objects.map((object) => encodeYaml(JSON.parse(stringify(object)) as Json)).join('---\n')
}

/**
 * Writes manifests. Each file is complete or absent. Returns the number of files. Without `force`, nothing is
 * written if a file with different content exists.
 */
export async function writeManifests(
  { to, path }: { readonly to: 'file' | 'folder'; readonly path: string },
  objects: readonly KubeObject[],
  force: boolean,
): Promise<number> {
  const nameOf = ({ kind, metadata }: KubeObject) => join(path, `${kind.toLowerCase()}-${metadata.name}.yaml`)
  const files =
    to === 'file'
      ? [[path, asYaml(objects)] as const]
      : objects.map((object) => [nameOf(object), asYaml([object])] as const)
  for (const [file, text] of force ? [] : files) {
    const held = await readFile(file, 'utf8').catch(() => text)
    if (held === text) continue
    throw new UsageError(`${file} already exists with different content: choose another path, or use --force`)
  }
  for (const [file, text] of files) await writeWhole(file, text)
  return files.length
}

/** `1 file`, `2 files`. */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

async function writeWhole(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const half = `${path}.${process.pid}.tmp`
  await writeFile(half, text)
  await rename(half, path)
}
