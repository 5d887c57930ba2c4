import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { writeKubeconfig } from './kubeconfig.js'
import { openPki, type Pki } from './pki.js'

const DAY = 24 * 3600 * 1000

async function inFolder(use: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'crosstie-pki-'))
  try {
    await use(dataDir)
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

const at = (dataDir: string, now = Date.now(), host = '127.0.0.1') => ({ dataDir, host, clock: { now: () => now } })

test('certificates serve TLS under every name and identify the client', () =>
  inFolder(async (dataDir) => {
    const pki = await openPki(at(dataDir))
    const seen: unknown[] = []
    const server = createServer({ ...pki.serving, ca: pki.ca, requestCert: true, rejectUnauthorized: false })
    server.on('request', (incoming, outgoing) => {
      const socket = incoming.socket as TLSSocket
      seen.push([socket.authorized, { ...socket.getPeerCertificate().subject }])
      outgoing.end('ok')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const port = (server.address() as AddressInfo).port
    try {
      for (const servername of ['localhost', 'kubernetes', 'kubernetes.default.svc', undefined]) {
        await call(pki, port, servername)
      }
      const many = pki.issueClient('müller', ['a', 'b'])
      await call({ ...pki, admin: many }, port, 'localhost')
    } finally {
      server.close()
    }
    assert.deepEqual(seen[0], [true, { O: 'system:masters', CN: 'kubernetes-admin' }])
    assert.equal(seen.length, 5)
    assert.deepEqual(seen[4], [true, { O: ['a', 'b'], CN: 'müller' }])
  }))

function call(pki: Pki, port: number, servername: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port,
      ca: pki.ca,
      ...pki.admin,
      agent: false,
      ...(servername && { servername }),
    }
    request(options, (response) => response.resume().on('end', resolve))
      .on('error', reject)
      .end()
  })
}

test('existing files are used again and have mode 0600', () =>
  inFolder(async (dataDir) => {
    const first = await openPki(at(dataDir))
    const second = await openPki(at(dataDir))
    assert.equal(second.ca, first.ca)
    assert.deepEqual(second.serving, first.serving)
    assert.deepEqual(second.admin, first.admin)
    assert.ok(second.signingKey.equals(first.signingKey))
    const names = await readdir(join(dataDir, 'pki'))
    assert.deepEqual(names.sort(), [
      'admin.crt',
      'admin.key',
      'apiserver.crt',
      'apiserver.key',
      'ca.crt',
      'ca.key',
      'sa.key',
    ])
    for (const name of names) assert.equal((await stat(join(dataDir, 'pki', name))).mode & 0o777, 0o600, name)
  }))

test('certificates rotate before they expire, and when the host changes; the authority stays', () =>
  inFolder(async (dataDir) => {
    const first = await openPki(at(dataDir))
    const later = await openPki(at(dataDir, Date.now() + 340 * DAY))
    assert.equal(later.ca, first.ca)
    assert.notEqual(later.serving.cert, first.serving.cert)
    assert.notEqual(later.admin.cert, first.admin.cert)

    const moved = await openPki(at(dataDir, Date.now() + 340 * DAY, '10.1.2.3'))
    assert.notEqual(moved.serving.cert, later.serving.cert)
    assert.deepEqual(moved.admin, later.admin)
    assert.equal(new X509Certificate(moved.serving.cert).checkIP('10.1.2.3'), '10.1.2.3')
    const six = await openPki(at(dataDir, Date.now() + 340 * DAY, 'fd00:1::5:6'))
    assert.ok(new X509Certificate(six.serving.cert).checkIP('fd00:1::5:6'))
  }))

test('an authority that expires soon is renewed with the same key, so old client certificates still verify', () =>
  inFolder(async (dataDir) => {
    const first = await openPki(at(dataDir))
    const later = await openPki(at(dataDir, Date.now() + 3640 * DAY))
    assert.notEqual(later.ca, first.ca)
    const old = new X509Certificate(first.admin.cert)
    assert.ok(old.verify(new X509Certificate(later.ca).publicKey))
    assert.ok(new X509Certificate(later.serving.cert).checkIssued(new X509Certificate(later.ca)))
  }))

test('damaged or unreadable files that cannot be replaced give a clear error and stay', () =>
  inFolder(async (dataDir) => {
    await openPki(at(dataDir))
    const file = (name: string) => join(dataDir, 'pki', name)
    const whole = {
      'ca.crt': await readFile(file('ca.crt'), 'utf8'),
      'ca.key': await readFile(file('ca.key'), 'utf8'),
      'sa.key': await readFile(file('sa.key'), 'utf8'),
    }
    const cases: [string, string, RegExp][] = [
      ['ca.crt', 'nonsense', /cannot open the keys and certificates: .*ca\.crt holds no certificate; restore it/],
      ['ca.key', '', /ca\.key holds no private key; restore it from a backup/],
      ['ca.key', whole['sa.key'], /ca\.key does not belong to ca\.crt/],
      ['sa.key', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n', /sa\.key holds no private key/],
    ]
    for (const [name, text, want] of cases) {
      await writeFile(file(name), text)
      await assert.rejects(openPki(at(dataDir)), want)
      assert.equal(await readFile(file(name), 'utf8'), text)
      await writeFile(file(name), whole[name as keyof typeof whole])
    }
    await rm(file('ca.key'))
    await assert.rejects(openPki(at(dataDir)), /ca\.key is missing, but ca\.crt exists/)
    await writeFile(file('ca.key'), whole['ca.key'])
    await rm(file('sa.key'))
    await mkdir(file('sa.key'))
    await assert.rejects(openPki(at(dataDir)), /cannot open the keys and certificates: EISDIR/)
  }))

test('a damaged certificate is issued again', () =>
  inFolder(async (dataDir) => {
    const first = await openPki(at(dataDir))
    await writeFile(join(dataDir, 'pki', 'apiserver.crt'), 'torn')
    await writeFile(join(dataDir, 'pki', 'admin.key'), first.serving.key)
    const second = await openPki(at(dataDir))
    assert.ok(new X509Certificate(second.serving.cert))
    assert.notDeepEqual(second.admin, first.admin)
  }))

test('the kubeconfig has mode 0600 and is replaced atomically', () =>
  inFolder(async (dataDir) => {
    const pki = await openPki(at(dataDir))
    const file = join(dataDir, 'deep', 'kubeconfig')
    const content = { server: 'https://127.0.0.1:6443', ca: pki.ca, client: pki.admin }
    await writeKubeconfig(file, content)
    await writeFile(file, 'older: text')
    await chmod(file, 0o644)
    await writeKubeconfig(file, content)
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    const text = await readFile(file, 'utf8')
    assert.match(text, /current-context: crosstie\n/)
    assert.ok(text.includes(Buffer.from(pki.ca).toString('base64')))
    assert.deepEqual(await readdir(join(dataDir, 'deep')), ['kubeconfig'])
    await assert.rejects(
      writeKubeconfig(join(file, 'below'), content),
      /cannot write the kubeconfig .*: (ENOTDIR|EEXIST)/,
    )
  }))

test('creating all keys takes a moment: no RSA key', () =>
  inFolder(async (dataDir) => {
    const before = process.cpuUsage()
    await openPki(at(dataDir))
    const { user, system } = process.cpuUsage(before)
    assert.ok(user + system < 1_000_000, `${(user + system) / 1000} CPU ms`)
  }))

test('a first start with a clock ahead: certificates are issued again once the clock is right, and the log says so', () =>
  inFolder(async (dataDir) => {
    const now = Date.now()
    const early = await openPki(at(dataDir, now + 400 * DAY))
    assert.ok(Date.parse(new X509Certificate(early.serving.cert).validFrom) > now)
    const warnings: string[] = []
    const pki = await openPki({ ...at(dataDir, now), warn: (message) => warnings.push(message) })
    for (const pem of [pki.ca, pki.serving.cert, pki.admin.cert]) {
      const { validFrom } = new X509Certificate(pem)
      assert.ok(Date.parse(validFrom) <= now - DAY + 1_000, validFrom)
    }
    assert.match(warnings.join('\n'), /ca\.crt is not valid before .*the clock was ahead.*issued again/)
    assert.ok(new X509Certificate(pki.serving.cert).verify(new X509Certificate(pki.ca).publicKey))
    warnings.length = 0
    await openPki({ ...at(dataDir, now), warn: (message) => warnings.push(message) })
    assert.deepEqual(warnings, [])
  }))

test('key files that others may read are closed to them, with a warning', () =>
  inFolder(async (dataDir) => {
    await openPki(at(dataDir))
    const key = join(dataDir, 'pki', 'sa.key')
    await chmod(key, 0o644)
    const warnings: string[] = []
    await openPki({ ...at(dataDir), warn: (message) => warnings.push(message) })
    assert.equal((await stat(key)).mode & 0o777, 0o600)
    assert.match(warnings.join(), /sa\.key holds a secret and was open to others \(mode 644\); its mode is now 600/)
  }))
