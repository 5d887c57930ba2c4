import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { crosstie, Program } from '../support/program.js'

interface Case {
  readonly because: string
  readonly typed: string
  /** The command line after the tab key. */
  readonly line: string
}

const cases: readonly Case[] = [
  { because: 'a command', typed: 'crosstie des', line: 'crosstie describe' },
  { because: 'an option', typed: 'crosstie get --all', line: 'crosstie get --all-namespaces' },
  { because: 'a value of an option', typed: 'crosstie get -o ya', line: 'crosstie get -o yaml' },
  { because: 'a word of its own list', typed: 'crosstie completion z', line: 'crosstie completion zsh' },
  { because: 'a kind of the server', typed: 'crosstie get nopresourcec', line: 'crosstie get nopresourceclass' },
  { because: 'a name', typed: 'crosstie trace nopresource/fir', line: 'crosstie trace nopresource/first-one' },
  {
    because: 'a name with a colon, at which bash splits',
    typed: 'crosstie get clusterrole crosstie:infrastructure-',
    line: 'crosstie get clusterrole crosstie:infrastructure-operator',
  },
  { because: 'a file', typed: 'crosstie apply -f thing', line: 'crosstie apply -f things.yaml' },
  { because: 'more is to follow', typed: 'crosstie get -o jsonp', line: 'crosstie get -o jsonpath=' },
]

/** Runs an interactive zsh in a pseudo-terminal (zpty), types the lines, and prints the resulting command lines. */
const zsh = `
zmodload zsh/zpty
TERM=dumb zpty shell zsh -f -i
says() { local text; zpty -r shell text "*$1*"; print -r -- "$text" | tr -d '\\r' | grep -o "$2" | tail -1 }
zpty -w shell 'PS1=; unsetopt prompt_sp; autoload -Uz compinit; compinit -u -D; source <(command crosstie completion zsh)'
zpty -w shell 'accept() { print -r -- "ran:""[$BUFFER]"; BUFFER= }; zle -N accept; bindkey "^X" accept; print set-""up'
says set-up set-up >/dev/null
for typed in "$@"; do
  zpty -w -n shell "$typed"$'\\t\\x18'
  says 'ran:\\[*\\]' 'ran:\\[[^]]*\\]'
done
zpty -d shell
`

/**
 * Calls the completion like bash: with the line and the cursor position. Bash completes files itself (complete -o
 * default).
 */
const bash = `
source <(crosstie completion bash)
[[ $(complete -p crosstie) == *'-o default'* ]] || exit 1
for typed in "$@"; do
  COMP_LINE=$typed COMP_POINT=\${#typed}
  _crosstie 2>/dev/null
  if [[ \${#COMPREPLY[@]} -eq 0 || -z \${COMPREPLY[0]} ]]; then COMPREPLY=($(compgen -f -- "\${typed##* }")); fi
  last=\${typed##* }
  echo "ran:[\${typed%"\${last##*[:=]}"}\${COMPREPLY[0]}]"
done
`

/** Prints the completions of fish for a line, as its tab key does. */
const fish = `
crosstie completion fish | source
for typed in $argv
    set -l words (string split ' ' -- $typed)
    set -l offered (complete -C $typed | string split -f 1 \\t)
    echo "ran:["(string join ' ' -- $words[1..-2] $offered)"]"
end
`

const shells: Readonly<Record<string, readonly string[]>> = {
  bash: ['--norc', '-c', bash, 'bash'],
  zsh: ['-f', '-c', zsh, 'zsh'],
  fish: ['--no-config', '-c', fish],
}

/** Commands that check a shell. zsh needs a pseudo-terminal, which a minimal container may lack. */
const trial: Readonly<Record<string, string>> = { zsh: 'zmodload zsh/zpty && zpty trial true' }
const has = (shell: string) => spawnSync(shell, ['-c', trial[shell] ?? 'exit 0'], { timeout: 60_000 }).status === 0

describe('completion in shells', { timeout: 900_000 }, () => {
  let program: Program
  before(async () => {
    program = await Program.up('--providers', 'nop')
    assert.ok(await program.plane!.says(/^ {2}kinds /m, 120_000))
    await program.ok('wait', 'clusterrole/crosstie:infrastructure-operator', '--for', 'create', '--timeout', '2m')
    symlinkSync(crosstie, join(program.folder, 'crosstie'))
    const input =
      'apiVersion: nop.crossplane.io/v1alpha1\nkind: NopResource\nmetadata: {name: first-one}\nspec: {forProvider: {size: 1}}\n'
    execFileSync('sh', ['-c', 'cat > things.yaml'], { cwd: program.folder, input })
    await program.ok('apply', '-f', join(program.folder, 'things.yaml'))
  })
  after(async () => await program?.[Symbol.asyncDispose]())

  for (const [shell, args] of Object.entries(shells)) {
    const skip = has(shell)
      ? false
      : `there is no ${shell} here${trial[shell] ? ', or none with a terminal of its own' : ''}`
    test(shell, { skip }, () => {
      const env = {
        ...process.env,
        PATH: `${program.folder}${delimiter}${process.env['PATH']}`,
        KUBECONFIG: program.kubeconfig,
        HOME: program.folder,
      }
      const pressTab = (typed: readonly string[]) => {
        const options = { cwd: program.folder, env, encoding: 'utf8', timeout: 120_000 } as const
        const { stdout, stderr } = spawnSync(shell, [...args, ...typed], options)
        // A shell may append a space to a complete word.
        return { lines: stdout.trim().replaceAll(/ +\]$/gm, ']').split('\n'), stderr }
      }
      // Completion has a short timeout. On a busy machine a server may miss it, so the test retries.
      let left = cases
      let seen = { lines: [] as string[], stderr: '' }
      for (let tries = 0; tries < 10 && left.length > 0; tries++) {
        seen = pressTab(left.map(({ typed }) => typed))
        left = left.filter(({ line }, i) => seen.lines[i] !== `ran:[${line}]`)
      }
      assert.deepEqual(left, [], `${seen.lines.join('\n')}\n${seen.stderr}`)
    })
  }
})
