import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLog } from './log.js'

function logged(format: 'json' | 'text', logLine: (log: ReturnType<typeof createLog>) => void): string {
  const lines: string[] = []
  logLine(createLog({ format, level: 'info', clock: { now: () => 0 }, write: (line) => lines.push(line) }))
  return lines.join('\n')
}

test('formats a line as text or JSON', () => {
  const logLine = (log: ReturnType<typeof createLog>) =>
    log.with({ controller: 'c' }).warn('it\nfailed', { error: new Error('bad luck'), tries: 2 })
  assert.equal(
    logged('text', logLine),
    '1970-01-01T00:00:00.000Z WARN  it failed controller=c error="bad luck" tries=2',
  )
  assert.deepEqual(JSON.parse(logged('json', logLine)), {
    time: '1970-01-01T00:00:00.000Z',
    level: 'warn',
    message: 'it\nfailed',
    controller: 'c',
    error: 'bad luck',
    tries: 2,
  })
})

test('messages below the level are dropped', () => {
  assert.equal(
    logged('text', (log) => log.debug('noise')),
    '',
  )
})

const CANARY = 'c4n4ry'
const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'n' }, data: { k: CANARY } }
const jwt = `eyJhbGciOiJSUzI1NiJ9.${CANARY}payload.sig`
const cases: Record<string, (log: ReturnType<typeof createLog>) => void> = {
  'by its name': (log) => log.info('m', { token: CANARY, clientSecret: CANARY, nested: { password: CANARY } }),
  'an object is reduced to its name': (log) => log.info('m', { object: secret }),
  'a bearer token in a message': (log) => log.info(`sent Bearer ${CANARY}`, { header: `Bearer ${CANARY}` }),
  'a token in an error': (log) => log.error('m', { error: new Error(`refused ${jwt}`) }),
  'a private key': (log) => log.error(`-----BEGIN RSA PRIVATE KEY-----\n${CANARY}\n-----END RSA PRIVATE KEY-----`),
}
for (const [name, logLine] of Object.entries(cases)) {
  test(`no secret is logged: ${name}`, () => {
    for (const format of ['json', 'text'] as const) {
      const text = logged(format, logLine)
      assert.ok(text.length > 0 && !text.includes(CANARY), text)
    }
  })
}
