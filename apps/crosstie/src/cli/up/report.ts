import { relative } from 'node:path'
import type { Input } from '../command.js'

/** How people call this program: through npm when it came from there. */
export function programName(env: Readonly<Record<string, string | undefined>> = process.env): string {
  return env['npm_execpath'] ? 'npx crosstie' : 'crosstie'
}

/** A path as people in this folder would write it. */
export function shortPath(path: string, cwd = process.cwd()): string {
  const short = relative(cwd, path)
  return short.startsWith('..') || short === '' ? path : short
}

const LABEL = 13

export function factLine({ paint }: Pick<Input, 'paint'>, label: string, text: string): string {
  return `  ${paint.bold(label.padEnd(LABEL))}${text}`
}

/** What to do next, in another terminal. */
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
    paint.dim('Ctrl-C stops it; what was made stays, and the next start goes on with it.'),
  ]
}

const usualSteps = [
  '# what can be asked for, and what it takes',
  'crosstie kinds claim',
  'crosstie explain postgresqlinstance.spec',
  '# ask for it, and look at it',
  'crosstie apply -f FILE',
  'crosstie get claim,managed -A',
]
