import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { text as wholeText } from 'node:stream/consumers'
import { decodeYaml } from '@crosstie/apiserver/yaml'
import { isObject, type Json, type KubeObject, messageOf } from '@crosstie/kube'
import { UsageError } from '../command.js'

/** An object of a file, with its position. */
export interface Manifest {
  readonly object: KubeObject
  /** The position: `claim.yaml:12`, or `-:1` for stdin. */
  readonly source: string
}

/** A file that cannot be parsed. The message contains the position. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError'
}

const MANIFEST = /\.(ya?ml|json)$/

/** Reads files, folders (recursively) and `-` for stdin. Throws if they do not contain any object. */
export async function readManifests(
  paths: readonly string[],
  readInput: () => Promise<string> = readStdin,
): Promise<readonly Manifest[]> {
  if (paths.length === 0) throw new UsageError('name a file, a folder or - with -f, such as -f claim.yaml')
  const manifests: Manifest[] = []
  for (const path of paths) {
    if (path === '-') manifests.push(...parseManifests(await readInput(), '-'))
    else for (const file of filesAt(path)) manifests.push(...parseManifests(readFileSync(file, 'utf8'), file))
  }
  if (manifests.length === 0) throw new ManifestError(`there is no object in ${paths.join(', ')}`)
  return manifests
}

/** Reads stdin to its end. */
async function readStdin(): Promise<string> {
  if (process.stdin.isTTY)
    throw new UsageError('-f - reads stdin, which is a terminal: pipe manifests into the command')
  return await wholeText(process.stdin)
}

/** Returns the files of a path, sorted by name. */
function filesAt(path: string): readonly string[] {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) throw new UsageError(`there is no file or folder ${path}`)
  if (!found.isDirectory()) return [path]
  const files = readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => MANIFEST.test(name) && !name.includes('node_modules'))
    .sort()
  if (files.length === 0) throw new ManifestError(`there is no .yaml, .yml or .json file in ${path}`)
  return files.map((name) => join(path, name))
}

/** Parses the objects of a text with one or more documents, JSON or YAML. Throws a ManifestError. */
export function parseManifests(text: string, file: string): readonly Manifest[] {
  return documentsOf(text).flatMap(({ text: document, line }) => {
    const value = decode(document, file, line)
    return value === null ? [] : objectsIn(value, `${file}:${line + leadingLines(document)}`)
  })
}

interface Document {
  readonly text: string
  /** The first line of the document in the file, from 1. */
  readonly line: number
}

/** Matches the separator of documents. Block scalars cannot contain it at the start of a line. */
const SEPARATOR = /^---(?=[ \t\r\n]|$)/

function documentsOf(text: string): readonly Document[] {
  const documents: { text: string; line: number }[] = [{ text: '', line: 1 }]
  text.split(/(?<=\n)/).forEach((line, i) => {
    if (SEPARATOR.test(line)) documents.push({ text: line.replace(SEPARATOR, '   '), line: i + 1 })
    else documents.at(-1)!.text += line
  })
  return documents.filter((document) => !isEmpty(document.text))
}

const isEmpty = (text: string): boolean => /^(?:\s*(?:#.*)?(?:\r?\n|$))*$/.test(text)

/** Returns the number of comment lines and empty lines before the content of a document. */
function leadingLines(text: string): number {
  const lines = text.split('\n')
  return Math.max(
    0,
    lines.findIndex((line) => !/^\s*(#.*)?$/.test(line)),
  )
}

function decode(text: string, file: string, line: number): Json {
  try {
    const { value, strictErrors } = decodeYaml(text, { strict: true })
    if (strictErrors.length > 0) throw new Error(strictErrors.join('; ').replace(/^yaml: unmarshal errors:\s*/, ''))
    return value
  } catch (error) {
    throw new ManifestError(complaint(messageOf(error), file, line))
  }
}

/** Converts a message of the parser, which counts lines from the start of the document. */
function complaint(message: string, file: string, line: number): string {
  const [, at, why] = /^(?:yaml: )?line (\d+): (.*)/s.exec(message) ?? []
  return at ? `${file}:${line + Number(at) - 1}: ${why}` : `${file}:${line}: ${message.replace(/^yaml: /, '')}`
}

function objectsIn(value: Json, source: string): readonly Manifest[] {
  if (!isObject(value)) throw new ManifestError(`${source}: not a Kubernetes object, but ${nameOfValue(value)}`)
  const { apiVersion, kind, metadata, items } = value
  if (typeof apiVersion !== 'string' || !apiVersion) throw missing(source, 'apiVersion')
  if (typeof kind !== 'string' || !kind) throw missing(source, 'kind')
  if (kind.endsWith('List') && Array.isArray(items)) return items.flatMap((item: Json) => objectsIn(item, source))
  const { name, generateName } = (isObject(metadata) ? metadata : {}) as { name?: unknown; generateName?: unknown }
  if (typeof name !== 'string' || !name) {
    if (generateName) throw new ManifestError(`${source}: ${kind} has generateName; apply needs metadata.name`)
    throw missing(source, 'metadata.name', kind)
  }
  return [{ object: value as unknown as KubeObject, source }]
}

const missing = (source: string, field: string, kind = 'the object'): ManifestError =>
  new ManifestError(`${source}: ${kind} has no ${field}`)

const nameOfValue = (value: unknown): string =>
  value === null ? 'nothing' : Array.isArray(value) ? 'a list' : `the ${typeof value} ${JSON.stringify(value)}`
