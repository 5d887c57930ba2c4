import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmod, chown, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { serverAccount } from '../embedded/binaries.js'
import { embeddedVariant, type TestServer } from '../testing/servers.js'
import { Server } from './server.js'
import { targetOf } from './target.js'

const noOpenssl = spawnSync('openssl', ['version']).status === 0 ? false : 'no openssl to make a certificate with'

describe('sslMode', { skip: noOpenssl, timeout: 600_000 }, () => {
  let dir: string
  let encrypted: TestServer
  let plain: TestServer
  let ca: string
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'crosstie-tls-'))
    await chmod(dir, 0o711)
    const [cert, key] = [join(dir, 'server.crt'), join(dir, 'server.key')]
    // Its own CA. The certificate is valid for the address but not for the name.
    const subject = ['-subj', '/CN=database', '-addext', 'subjectAltName=IP:127.0.0.1']
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-nodes',
        '-days',
        '2',
        ...subject,
        '-keyout',
        key,
        '-out',
        cert,
      ],
      { stdio: 'ignore' },
    )
    await chmod(key, 0o600)
    const account = serverAccount()
    if (account) await chown(key, account.uid, account.gid)
    ca = await readFile(cert, 'utf8')
    encrypted = await embeddedVariant().start(['ssl=on', `ssl_cert_file=${cert}`, `ssl_key_file=${key}`])
    plain = await embeddedVariant().start()
  })
  after(async () => {
    await encrypted?.[Symbol.asyncDispose]()
    await plain?.[Symbol.asyncDispose]()
    await rm(dir, { recursive: true, force: true })
  })

  const cases: Record<string, Case> = {
    DisablePlain: { mode: 'disable', server: 'encrypted', want: false },
    PreferTakesWhatIsThere: { mode: 'prefer', server: 'encrypted', want: true },
    PreferDoesWithout: { mode: 'prefer', server: 'plain', want: false },
    Require: { mode: 'require', server: 'encrypted', want: true },
    RequireRefusesPlain: { mode: 'require', server: 'plain', want: /does not support SSL/ },
    VerifyCa: { mode: 'verify-ca', server: 'encrypted', trusts: true, host: 'localhost', want: true },
    VerifyCaUnknown: { mode: 'verify-ca', server: 'encrypted', want: /self-signed certificate/ },
    VerifyFull: { mode: 'verify-full', server: 'encrypted', trusts: true, want: true },
    VerifyFullOtherName: {
      mode: 'verify-full',
      server: 'encrypted',
      trusts: true,
      host: 'localhost',
      want: /altnames|certificate/i,
    },
  }
  for (const [name, { mode, server, trusts, host, want }] of Object.entries(cases)) {
    test(name, async () => {
      const { login } = server === 'plain' ? plain : encrypted
      const given = { ...login, host: host ?? login.host, port: String(login.port), ...(trusts ? { ca } : {}) }
      const config = { name: 'tls', revision: name, spec: { sslMode: mode }, credentials: JSON.stringify(given) }
      const target = targetOf(config as never)
      const look = new Server(target).query<{ ssl: boolean }>(
        'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
        [],
        { what: 'ask', signal: AbortSignal.timeout(60_000) },
      )
      if (want instanceof RegExp) await assert.rejects(look, want)
      else assert.deepEqual(await look, [{ ssl: want }])
    })
  }
})

interface Case {
  readonly mode: string
  readonly server: 'plain' | 'encrypted'
  readonly trusts?: boolean
  readonly host?: string
  readonly want: boolean | RegExp
}
