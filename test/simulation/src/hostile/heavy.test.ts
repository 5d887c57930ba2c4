import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { expensiveRequests } from './expensive-requests.js'
import type { Busy, Hello } from './messages.js'
import { AttackedServer } from './tenant.js'

/*
 * Requests within the size limit that are as expensive as a client can choose. None may stop the server or block
 * the event loop for long. The victim measures the CPU time of its main thread per turn of the event loop, so that
 * other work on the machine does not count.
 */

/** 200 ms on an idle machine. Neighbors that share the caches of the processor double and triple the CPU time. */
const BLOCKED_MS_MAX = 600

const home = fs.mkdtempSync(join(os.tmpdir(), 'crosstie-heavy-'))
let victim: ChildProcess
let server: AttackedServer

before(async () => {
  const program = fileURLToPath(new URL('./busy-victim.js', import.meta.url))
  victim = fork(program, [join(home, 'data')])
  const [hello] = (await once(victim, 'message')) as [Hello]
  server = await AttackedServer.prepare(hello.access)
})

after(async () => {
  server?.close()
  assert.equal(victim.exitCode, null, 'the server survives')
  victim.kill()
  await once(victim, 'exit')
  fs.rmSync(home, { recursive: true, force: true })
})

for (const [name, attack] of Object.entries(expensiveRequests)) {
  test(name, { timeout: 600_000 }, async (t) => {
    const { seed } = attack
    if (seed) assert.equal((await server.send('administrator', { ...seed, body: seed.body() })).status, 201)
    await busy()
    const { status, text } = await server.send(attack.as, { ...attack, body: attack.body?.() })
    const { longest, total } = await busy()
    t.diagnostic(
      `${status}, ${text.length} bytes, ${longest.toFixed(0)} ms in one piece, ${total.toFixed(0)} ms in all`,
    )
    assert.equal(status, attack.status, text.slice(0, 500))
    if (attack.message) assert.match(text.slice(0, 3_000_000), attack.message)
    assert.ok(text.length < 16 << 20, `an answer of ${text.length} bytes`)
    assert.ok(longest < BLOCKED_MS_MAX, `the event loop was busy for ${longest} ms`)
    assert.equal((await server.administrator.send('GET', '/livez')).status, 200)
  })
}

async function busy(): Promise<Busy> {
  victim.send('measure')
  const [answer] = (await once(victim, 'message')) as [Busy]
  return answer
}
