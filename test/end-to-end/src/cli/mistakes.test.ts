import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Program } from '../support/program.js'

interface Mistake {
  readonly args: readonly string[]
  readonly code: number
  readonly says: RegExp
}

/** A kubeconfig for port 1, which has no server. */
const gone = `apiVersion: v1
kind: Config
clusters: [{name: gone, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: gone, user: {token: x}}]
contexts: [{name: gone, context: {cluster: gone, user: gone}}]
current-context: gone
`

/** User mistakes that occur before any connection. Each message names the mistake and the fix. */
const mistakes: Record<string, Mistake> = {
  'an option before the command': {
    args: ['--kubeconfig', 'admin.kubeconfig', 'get', 'managed'],
    code: 2,
    says: /options stand behind the command: crosstie COMMAND --kubeconfig/,
  },
  'a word too many': { args: ['version', 'please'], code: 2, says: /'please' is more than it takes: options only/ },
  'labels that are none': {
    args: ['get', 'managed', '-l', '==='],
    code: 2,
    says: /-l takes labels such as app=shop,tier!=web, not '===': found '=='/,
  },
  'a backup of a server that is elsewhere': {
    args: ['backup', 'today.backup'],
    code: 2,
    says: /\.crosstie\/kubeconfig does not exist: name the data directory of the server with --data-dir/,
  },
  'a plan that is not there': { args: ['approve', 'plan.json'], code: 2, says: /the file plan\.json does not exist/ },
  'no kind to discover': {
    args: ['discover', 'sql'],
    code: 2,
    says: /name kinds of sql, separated by spaces, or all/,
  },
  'a provider that cannot be loaded': {
    args: ['up', '--listen', '127.0.0.1:0', '--providers', './broken.mjs'],
    code: 1,
    says: /cannot load the provider \.\/broken\.mjs: .*no-such-package/,
  },
  'a server that does not run, and many objects': {
    args: ['apply', '-f', 'two.yaml', '--kubeconfig', 'gone.kubeconfig'],
    code: 5,
    says: /^error: crosstie apply: [^\n]*cannot connect[^\n]*\nIs it running\?[^\n]*\n$/,
  },
  'a backup that is not there': {
    args: ['restore', 'yesterday.backup'],
    code: 2,
    says: /the file yesterday\.backup does not exist/,
  },
  'a file that is no backup': {
    args: ['restore', 'letter.txt'],
    code: 1,
    says: /letter\.txt is damaged at byte 0: this is not a backup\. Nothing was changed\. Use another file/,
  },
  'a file for a folder': {
    args: ['up', '--listen', '127.0.0.1:0', '--data-dir', 'letter.txt'],
    code: 1,
    says: /letter\.txt is a file or is inside a file\. Choose a folder\./,
  },
}

describe('mistakes on the command line', { timeout: 600_000 }, () => {
  let program: Program
  before(async () => {
    program = await Program.on('/nonexistent/kubeconfig')
    await writeFile(join(program.folder, 'letter.txt'), 'Dear all')
    await writeFile(join(program.folder, 'broken.mjs'), "import 'no-such-package'\n")
    const map = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`
    await writeFile(join(program.folder, 'two.yaml'), `${map('one')}---\n${map('two')}`)
    await writeFile(join(program.folder, 'gone.kubeconfig'), gone)
  })
  after(async () => await program[Symbol.asyncDispose]())

  for (const [name, { args, code, says }] of Object.entries(mistakes)) {
    test(name, async () => {
      const ran = await program.run(args)
      assert.match(ran.err, says)
      assert.deepEqual([ran.code, ran.out], [code, ''])
      assert.doesNotMatch(ran.err, /ENOENT|EEXIST|^ {4}at /m, 'no words of the system, no stack')
    })
  }
})
