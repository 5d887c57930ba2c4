import { relative } from 'node:path'
import type { Input } from '../command.js'

/** Returns the name by which the user called this program, with npm if it was used. */
export function programName(env: Readonly<Record<string, string | undefined>> = process.env): string {
  return env['npm_execpath'] ? 'npx crosstie' : 'crosstie'
}

/** Returns a path relative to the current folder, if that is shorter. */
export function shortPath(path: string, cwd = process.cwd()): string {
  const short = relative(cwd, path)
  return short.startsWith('..') || short === '' ? path : short
}

const LABEL = 13

/** Formats a label and a value. */
export function factLine({ paint }: Pick<Input, 'paint'>, label: string, text: string): string {
  return `  ${paint.bold(label.padEnd(LABEL))}${text}`
}

/** Returns the next steps for the user. */
export function nextSteps(
  kubeconfig: string,
  steps: readonly string[],
  { paint }: Pick<Input, 'paint'>,
): readonly string[] {
  const program = programName()
  const given = steps.length > 0 ? steps : usualSteps
  const called = given.map((line) => line.replace(/(^|[\s(])crosstie /g, `$1${program} `))
  const shown = called.map((line) => `  ${line.startsWith('#') ? paint.dim(line) : line}`)
  const own = shortPath(kubeconfig) === '.crosstie/kubeconfig'
  return [
    '',
    `${paint.bold('Next')}, in another terminal${own ? ' in this folder' : ''}:`,
    ...(own ? [] : [`  export KUBECONFIG=${kubeconfig}`]),
    ...shown,
    '',
    paint.dim('Ctrl-C stops it. The data is kept, and the next start continues with it.'),
  ]
}

const usualSteps = [
  '# list the kinds and their fields',
  'crosstie kinds claim',
  'crosstie explain postgresqlinstance.spec',
  '# create a claim and show it',
  'crosstie apply -f FILE',
  'crosstie get claim,managed -A',
]
