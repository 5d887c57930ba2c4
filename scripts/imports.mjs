// The import graph of compiled modules, across the packages of this repository.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { globSync } from './glob.mjs'

const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"\n]+)['"]/g

const cache = new Map()

/** Returns the imports of a module: paths for modules of this repository, the specifier for others. */
export function importsOf(file) {
  if (!cache.has(file)) cache.set(file, readImports(file))
  return cache.get(file)
}

/** Removes recompiled modules from the cache. */
export function forget(files) {
  for (const file of files) cache.delete(file)
}

/** Returns the file and all modules that it imports, directly or not. Imports are followed from `through` modules only. */
export function modulesImportedBy(file, through = () => true) {
  const found = new Set()
  const waiting = [file]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if (found.has(next)) continue
    found.add(next)
    if (through(next)) waiting.push(...importsOf(next).filter((each) => each.includes('/dist/') && existsSync(each)))
  }
  return found
}

function readImports(file) {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(IMPORT)].map(([, specifier]) => resolve(file, specifier))
}

function resolve(file, specifier) {
  if (specifier.startsWith('.')) return normalize(join(dirname(file), specifier))
  const [, name, entry = ''] = /^(@crosstie\/[^/]+|crosstie)(\/.*)?$/.exec(specifier) ?? []
  const target = name && entryPoints().get(`${name}${entry}`)
  return target ?? specifier
}

let points

function entryPoints() {
  points ??= new Map(
    globSync(['packages', 'providers', 'apps', 'test'], /^[^/]+\/[^/]+\/package\.json$/).flatMap(pointsOf),
  )
  return points
}

function pointsOf(manifest) {
  const { name, exports = {} } = JSON.parse(readFileSync(manifest, 'utf8'))
  return Object.entries(exports).map(([entry, target]) => [
    name + entry.slice(1),
    join(dirname(manifest), target.default ?? target),
  ])
}
