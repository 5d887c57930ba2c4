import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { AuditLog, type AuditOptions, type AuditRecord, isAudited } from './audit.js'

const NOW = Date.parse('2026-01-01T00:00:00.250Z')
const record: AuditRecord = {
  id: 'a-1',
  uri: '/api/v1/namespaces/ns/secrets',
  verb: 'create',
  user: { name: 'alice', groups: ['g'] },
  sourceIps: ['127.0.0.1'],
  userAgent: 'kubectl',
  target: { group: '', version: 'v1', resource: 'secrets', namespace: 'ns', name: 's' },
  status: { code: 201 },
  received: NOW - 250,
}

async function inFolder(use: (folder: string, options: AuditOptions) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'crosstie-audit-'))
  const failed = (error: unknown) => assert.fail(String(error))
  let ticks = 0
  const clock = { now: () => NOW + ticks++ }
  try {
    await use(folder, { file: join(folder, 'audit.log'), clock, failed })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const linesOf = async (file: string) =>
  (await readFile(file, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

test('a line names the user, the action and the result', () =>
  inFolder(async (_folder, options) => {
    const log = await AuditLog.open(options)
    log.record(record)
    const bad = { code: 422, reason: 'Invalid', message: 'Invalid value: "hunter2"' }
    log.record({ ...record, status: bad, impersonated: { name: 'bob', groups: [] } })
    const target = { group: 'apps', version: 'v1', resource: 'things', subresource: 'status', name: 't' }
    log.record({ ...record, target, status: bad })
    await log.close()
    const [first, second, third] = await linesOf(options.file)
    assert.deepEqual(first, {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'Metadata',
      auditID: 'a-1',
      stage: 'ResponseComplete',
      requestURI: '/api/v1/namespaces/ns/secrets',
      verb: 'create',
      user: { username: 'alice', groups: ['g'] },
      sourceIPs: ['127.0.0.1'],
      userAgent: 'kubectl',
      objectRef: { resource: 'secrets', namespace: 'ns', name: 's', apiVersion: 'v1' },
      responseStatus: { metadata: {}, code: 201 },
      requestReceivedTimestamp: '2026-01-01T00:00:00.000000Z',
      stageTimestamp: '2026-01-01T00:00:00.250000Z',
    })
    assert.deepEqual(second.impersonatedUser, { username: 'bob' })
    assert.deepEqual(second.responseStatus, { metadata: {}, status: 'Failure', reason: 'Invalid', code: 422 })
    assert.equal(third.responseStatus.message, bad.message)
    assert.deepEqual(third.objectRef, {
      resource: 'things',
      name: 't',
      apiGroup: 'apps',
      apiVersion: 'v1',
      subresource: 'status',
    })
    assert.equal((await stat(options.file)).mode & 0o777, 0o600)
  }))

test('files are rotated by size, and a limited number is kept', () =>
  inFolder(async (folder, options) => {
    const log = await AuditLog.open({ ...options, maxBytes: 1500, maxBackups: 2 })
    for (let i = 0; i < 20; i++) {
      log.record({ ...record, id: String(i) })
      // Records of requests that end while the disk is busy would share one write.
      while (!(await readFile(options.file, 'utf8').catch(() => '')).includes(`"auditID":"${i}"`)) {
        await new Promise((next) => setTimeout(next, 1))
      }
    }
    await log.close()
    const names = (await readdir(folder)).sort()
    assert.equal(names.length, 3)
    for (const name of names) assert.ok((await stat(join(folder, name))).size <= 1500)
    assert.equal((await linesOf(options.file)).at(-1).auditID, '19')
    const again = await AuditLog.open({ ...options, maxBytes: 1500, maxBackups: 2 })
    again.record({ ...record, id: 'later' })
    await again.close()
    assert.equal((await linesOf(options.file)).at(-1).auditID, 'later')
  }))

test('a slow disk costs lines, never memory or requests', () =>
  inFolder(async (_folder, options) => {
    const log = await AuditLog.open(options)
    const long = { ...record, uri: 'x'.repeat(100_000) }
    for (let i = 0; i < 4_000; i++) log.record(long)
    assert.ok(log.dropped > 1_900 && log.dropped < 2_300, String(log.dropped))
    await log.close()
    assert.equal((await linesOf(options.file)).length, 4_000 - log.dropped)
  }))

test('a log that cannot be opened is refused at the start', () =>
  inFolder(async (folder, options) => {
    await assert.rejects(AuditLog.open({ ...options, file: folder }), /cannot open the audit log .*: EISDIR/)
  }))

test('writes are recorded, reads are not', () => {
  assert.deepEqual(['create', 'patch', 'deletecollection', 'get', 'list', 'watch'].map(isAudited), [
    true,
    true,
    true,
    false,
    false,
    false,
  ])
})

test('a line is bounded whatever a client sends, and marked as truncated', () =>
  inFolder(async (_folder, options) => {
    const log = await AuditLog.open(options)
    const message = 'x'.repeat(3_800_000)
    log.record({ ...record, uri: `/${message}`, userAgent: message, status: { code: 422, reason: 'Invalid', message } })
    await log.close()
    const [line] = await linesOf(options.file)
    const text = JSON.stringify(line)
    assert.ok(text.length < 20_000, String(text.length))
    assert.match(text, /"audit.k8s.io\/truncated":"true"/)
  }))

test('rotated files are removed by age', () =>
  inFolder(async (folder, options) => {
    let now = Date.parse('2026-01-01T00:00:00Z')
    const rotated = { ...options, clock: { now: () => now }, maxBytes: 10, maxAgeDays: 2, maxBackups: 0 }
    for (let day = 0; day < 6; day++) {
      const log = await AuditLog.open(rotated)
      log.record(record)
      await log.close()
      now += 24 * 3600 * 1000
    }
    const aside = (await readdir(folder)).filter((name) => name.includes('-2026-'))
    assert.deepEqual(aside.length, 3, aside.join())
  }))
