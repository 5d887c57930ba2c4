import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Program } from './program.js'

interface Mistake {
  readonly args: readonly string[]
  readonly code: number
  readonly says: RegExp
}

/** What people get wrong before anything can be reached: each is told by its name, and what to do instead. */
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
    says: /there is no .*\.crosstie\/kubeconfig: name the data directory of the server with --data-dir/,
  },
  'a backup that is not there': {
    args: ['restore', 'yesterday.backup'],
    code: 2,
    says: /there is no file yesterday\.backup/,
  },
  'a file that is no backup': {
    args: ['restore', 'letter.txt'],
    code: 1,
    says: /letter\.txt is damaged at byte 0: this is no backup\. Nothing was changed\. Take another one/,
  },
  'a file for a folder': {
    args: ['up', '--listen', '127.0.0.1:0', '--data-dir', 'letter.txt'],
    code: 1,
    says: /letter\.txt is, or is in, a file\. Choose a folder\./,
  },
}

describe('mistakes on the command line', { timeout: 600_000 }, () => {
  let program: Program
  before(async () => {
    program = await Program.on('/nonexistent/kubeconfig')
    await writeFile(join(program.folder, 'letter.txt'), 'Dear all')
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
