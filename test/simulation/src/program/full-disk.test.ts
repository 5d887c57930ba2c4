import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Api } from './api.js'
import { CROSSTIE, Program, pause } from './program.js'

/* The whole program on a full disk: a file system in memory, if the machine permits mounting one. */
const mountable = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', os.tmpdir()]).status === 0
const skip = mountable ? false : 'this machine does not let us mount a file system'

const MAPS = '/api/v1/namespaces/default/configmaps'
const text = 'x'.repeat(100_000)

test('a full disk: writes are refused with the reason, reads continue, health reports it, and the server recovers', {
  skip,
  timeout: 600_000,
}, async (t) => {
  const home = fs.mkdtempSync(join(os.tmpdir(), 'crosstie-full-'))
  t.after(() => fs.rmSync(home, { recursive: true, force: true }))
  const data = join(home, 'data')
  // The file system exists as long as a process is in its namespace: the shell stays, and restarts the program.
  const up = `(echo $BASHPID > ${home}/pid; exec ${process.execPath} ${CROSSTIE} up --data-dir ${data} --listen 127.0.0.1:0)`
  const script = `mount -t tmpfs -o size=24m tmpfs ${home} && head -c 12000000 /dev/zero > ${home}/filler; ${up}; ${up}`
  const program = new Program(data, ['unshare', '-rm', 'bash', '-c', script])
  const inside = () => `/proc/${program.pid}/root`
  const pid = () => Number(fs.readFileSync(join(inside(), home, 'pid'), 'utf8'))
  try {
    const api = await program.ready(inside())
    const { kept, refused } = await fill(api)

    const { message, reason } = refused.body
    assert.equal(refused.status, 503, refused.text)
    assert.equal(reason, 'ServiceUnavailable')
    assert.match(message ?? '', /cannot write to the store: the disk is full\. Free space/)
    await toldByHealth(api, kept)
    assert.equal((await api.send('GET', '/livez')).status, 200, 'to start it again would not help')
    await check(api, kept)
    // A delete is a write too. It is rejected like any other, unless its few bytes fit.
    const [victim] = kept.keys()
    const deletion = await api.send('DELETE', `${MAPS}/${victim}`)
    assert.ok(deletion.status === 503 || deletion.status === 200, deletion.text)
    if (deletion.status === 200) kept.delete(victim!)

    fs.rmSync(join(inside(), home, 'filler'))
    for (let i = 0; (await api.send('GET', '/readyz')).status !== 200; i++) {
      assert.ok(i < 1_200, 'nobody needs to write for health to come back')
      await pause(100)
    }
    await health(api, 200)
    const { status, body } = await api.send('POST', MAPS, { metadata: { name: 'after' } })
    assert.equal(status, 201)
    kept.set('after', body.metadata.resourceVersion!)
    assert.match(program.errors, /the disk is full[\s\S]*writes to the store succeed again/, 'the operator is informed')
    api.close()

    process.kill(pid(), 'SIGKILL')
    const again = await program.ready(inside(), 2)
    await check(again, kept)
    again.close()
  } finally {
    // The shell is stopped first, so that it does not restart the program.
    const child = pid()
    await program.kill()
    process.kill(child, 'SIGKILL')
  }
})

/** Runs concurrent writers until each is rejected. */
async function fill(api: Api) {
  const kept = new Map<string, string>()
  const writers = Array.from({ length: 4 }, async (_, writer) => {
    for (let i = 0; i < 1000; i++) {
      const name = `w${writer}-${i}`
      const answer = await api.send('POST', MAPS, { metadata: { name }, data: { text } })
      if (answer.status !== 201) return answer
      kept.set(name, answer.body.metadata.resourceVersion!)
    }
    throw new Error('the disk never filled up')
  })
  const [refused] = await Promise.all(writers)
  return { kept, refused: refused! }
}

/**
 * Waits until the health endpoint reports the full disk. It reports it for a second after a failed write. Small
 * writes may succeed meanwhile.
 */
async function toldByHealth(api: Api, kept: Map<string, string>): Promise<void> {
  for (let i = 0; ; i++) {
    const { status, body } = await api.send('POST', MAPS, { metadata: { name: `more-${i}` }, data: { text } })
    if (status === 201) kept.set(`more-${i}`, body.metadata.resourceVersion!)
    try {
      return await health(api, 500)
    } catch (error) {
      if (i === 100) throw error
    }
  }
}

async function health(api: Api, want: number): Promise<void> {
  for (const page of ['healthz', 'readyz']) {
    const { status, text } = await api.send('GET', `/${page}?verbose`)
    assert.equal(status, want, `${page}: ${text}`)
    assert.ok(text.includes(want === 200 ? '[+]etcd ok' : '[-]etcd failed'), text)
  }
}

/** Checks that exactly the acknowledged writes are stored. */
async function check(api: Api, kept: ReadonlyMap<string, string>): Promise<void> {
  const { body } = await api.send('GET', MAPS)
  const found = (body.items ?? []).filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt')
  assert.deepEqual(new Map(found.map(({ metadata }) => [metadata.name!, metadata.resourceVersion!])), sorted(kept))
}

function sorted(kept: ReadonlyMap<string, string>): Map<string, string> {
  return new Map([...kept].sort(([a], [b]) => (a < b ? -1 : 1)))
}
