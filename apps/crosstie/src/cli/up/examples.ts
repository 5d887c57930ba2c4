import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { didYouMean } from '../../options/suggest.js'
import { UsageError } from '../command.js'
import { shortPath } from './report.js'

/** An example. */
export interface Example {
  readonly name: string
  readonly folder: string
  /** Commands to try with the example, for a shell. */
  readonly steps: readonly string[]
}

/** Finds an example by its name, or a folder by its path. Throws a usage error. */
export function findExample(name: string): Example {
  const own = /[/.]/.test(name) ? resolve(name) : undefined
  const folder = own ?? exampleFolders().find((each) => basename(each) === name)
  if (folder && statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    return { name: basename(folder), folder, steps: stepsOf(folder) }
  }
  if (own) throw new UsageError(`the folder ${own} does not exist`)
  const names = exampleFolders().map((each) => basename(each))
  const known = names.length > 0 ? `There are: ${names.join(', ')}` : 'This package came without examples'
  throw new UsageError(`unknown example '${name}'.${didYouMean(name, names)} ${known}`)
}

const LEVELS_MAX = 6

/** Returns the folders of examples in the package, or in the checkout. */
function exampleFolders(): readonly string[] {
  let folder = dirname(fileURLToPath(import.meta.url))
  for (let level = 0; level < LEVELS_MAX; level++, folder = dirname(folder)) {
    const examples = join(folder, 'examples')
    if (!existsSync(examples)) continue
    const found = readdirSync(examples).filter((name) => existsSync(join(examples, name, 'README.md')))
    if (found.length > 0) return found.sort().map((name) => join(examples, name))
  }
  return []
}

const STEPS = /^## Try it\b[\s\S]*?^```sh\n([\s\S]*?)^```/m

/** Returns the commands in the README of the example. */
function stepsOf(folder: string): readonly string[] {
  const page = join(folder, 'README.md')
  const text = existsSync(page) ? readFileSync(page, 'utf8') : ''
  const steps = STEPS.exec(text)?.[1]?.trimEnd().split('\n') ?? []
  // The README names the folder in a checkout; elsewhere it is inside of the package.
  return steps.map((line) => line.replaceAll(`examples/${basename(folder)}`, shortPath(folder)))
}
