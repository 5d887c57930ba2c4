import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { encodeYaml } from '@crosstie/apiserver/yaml'
import { type Json, type KubeObject, stringify } from '@crosstie/kube'
import type { ManagedKind } from '@crosstie/resources'
import { didYouMean } from '../../options/suggest.js'
import { UsageError } from '../command.js'
import { isCalled } from '../shared/kinds.js'

/** What discovering and promoting have in common. */

export const surroundings = {
  environment: process.env,
  readFile: (path: string) => readFile(path, 'utf8'),
}

/** The managed kind that a word means. */
export function managedKind(kinds: readonly ManagedKind[], word: string): ManagedKind {
  const found = kinds.filter(({ type }) => isCalled(type, word))
  if (found.length === 1) return found[0]!
  const names = (found.length > 1 ? found : kinds).map(({ type }) => type)
  if (found.length > 1) {
    const list = names.map(({ resource, group }) => `  ${resource}.${group}`).join('\n')
    throw new UsageError(`'${word}' may be any of these; say which:\n${list}`)
  }
  const words = names.map(({ kind }) => kind)
  throw new UsageError(`there is no managed kind '${word}'.${didYouMean(word, words)} There are ${words.join(', ')}`)
}

/** Where manifests go: nowhere, to the screen in some form, into one file or into a folder with one each. */
export type Destination =
  | { readonly to: 'table' | 'json' | 'yaml' }
  | { readonly to: 'file' | 'folder'; readonly path: string }

const isFile = /\.(ya?ml)$/

export function destinationOf(text: string | undefined): Destination {
  if (text === undefined || text === 'table') return { to: 'table' }
  if (text === 'json' || text === 'yaml') return { to: text }
  if (isFile.test(text)) return { to: 'file', path: text }
  // A word could be a misspelt format, and a folder of that name a surprise.
  if (text.includes('/')) return { to: 'folder', path: text }
  throw new UsageError(`-o takes table, json, yaml, a file that ends in .yaml, or a folder such as ${text}/`)
}

/** As people keep them: several documents in one text. */
export function asYaml(objects: readonly KubeObject[]): string {
  return objects.map((object) => encodeYaml(JSON.parse(stringify(object)) as Json)).join('---\n')
}

/**
 * Writes manifests, each file whole or not at all. Returns how many files there
 * are. Without `force`, a file that says something else keeps all from being written.
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
    throw new UsageError(`${file} is there already and says something else: choose another place, or say --force`)
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
