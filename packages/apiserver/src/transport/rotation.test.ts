import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect } from 'node:tls'
import { openPki } from '../access/pki.js'
import { runRotation } from '../access/rotation.js'
import { Listener } from './listener.js'

const DAY = 24 * 3600 * 1000

test('a running server gets its new certificate before the old one expires', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'crosstie-rotation-'))
  try {
    const days = [0, 1, 340, 341]
    const now = () => Date.now() + days[0]! * DAY
    const open = () => openPki({ dataDir, host: '127.0.0.1', clock: { now } })
    const first = await open()
    const { serving, ca } = first
    const options = { ...serving, clientCa: ca, host: '127.0.0.1', port: 0 }
    const listener = await Listener.open(options, (exchange) => exchange.respond(200, {}))
    const served = () =>
      new Promise<string>((resolve, reject) => {
        const socket = connect({ host: '127.0.0.1', port: listener.address.port, rejectUnauthorized: false }, () => {
          resolve(socket.getPeerX509Certificate()!.toString())
          socket.destroy()
        })
        socket.on('error', reject)
      })
    const seen: string[] = [await served()]
    const stop = new AbortController()
    const renewals: number[] = []
    await runRotation(
      first,
      {
        open,
        renew: (pki) => {
          renewals.push(days[0]!)
          listener.renew({ ...pki.serving, clientCa: pki.ca })
        },
        failed: (what, error) => assert.fail(`${what}: ${error}`),
        sleep: async () => {
          if (renewals.length > 0) seen.push(await served())
          days.shift()
          if (days.length === 0) stop.abort()
        },
      },
      stop.signal,
    ).finally(() => listener.close(0))
    assert.deepEqual(renewals, [340])
    assert.equal(seen[0], serving.cert)
    assert.notEqual(seen[1], seen[0])
    assert.equal(seen[2], seen[1])
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
})
