import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { didYouMean } from '../../options/suggest.js'
import { UsageError } from '../command.js'
import { shortPath } from './report.js'

export interface Example {
  readonly name: string
  readonly folder: string
  /** What can be done with it once it is there: lines for a shell, comments among them. */
  readonly steps: readonly string[]
}

/** An example by its name, or a folder of one's own by its path. */
export function findExample(name: string): Example {
  const own = /[/.]/.test(name) ? resolve(name) : undefined
  const folder = own ?? exampleFolders().find((each) => basename(each) === name)
  if (folder && statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    return { name: basename(folder), folder, steps: stepsOf(folder) }
  }
  if (own) throw new UsageError(`there is no folder ${own}`)
  const names = exampleFolders().map((each) => basename(each))
  const known = names.length > 0 ? `There are: ${names.join(', ')}` : 'This package came without examples'
  throw new UsageError(`there is no example '${name}'.${didYouMean(name, names)} ${known}`)
}

const LEVELS_MAX = 6

/** The examples that came with the package, or those of the checkout that this runs in. */
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

/** The commands that the example's own page names. */
function stepsOf(folder: string): readonly string[] {
  const page = join(folder, 'README.md')
  const text = existsSync(page) ? readFileSync(page, 'utf8') : ''
  const steps = STEPS.exec(text)?.[1]?.trimEnd().split('\n') ?? []
  // The page speaks of a checkout; elsewhere the folder is where the package was put.
  return steps.map((line) => line.replaceAll(`examples/${basename(folder)}`, shortPath(folder)))
}
