import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import pg from 'pg'
import type { Child } from '../support/children.js'
import { eventually } from '../support/claims-world.js'
import { type RealKubernetes, startRealKubernetes } from '../support/oracle.js'
import { fileOf, Program } from '../support/program.js'

const PATIENCE_MS = 120_000

const real = await startRealKubernetes()

describe('PostgreSQL from a real Kubernetes', {
  skip: typeof real === 'string' ? real : false,
  timeout: 600_000,
}, () => {
  const running: AsyncDisposable[] = []
  after(async () => {
    for (const each of running.reverse()) await each[Symbol.asyncDispose]()
    await (real as RealKubernetes)[Symbol.asyncDispose]()
  })

  test('AGG11 CLM4 the private database, on a server that a ProviderConfig names by its URL', async () => {
    // An external server: here that of another control plane.
    const elsewhere = await Program.up('--providers', 'sql')
    running.push(elsewhere)
    const url = await urlOf(elsewhere)

    const { kubeconfig } = real as RealKubernetes
    const program = await Program.on(kubeconfig)
    running.push(program)
    const plane: Child = program.start('controllers', '--kubeconfig', kubeconfig, '--providers', 'sql', '--standalone')
    running.push(plane)
    assert.ok(await plane.says(/^starting: /m), plane.errors)

    const manifest = join(program.folder, 'server.yaml')
    await writeFile(manifest, serverManifest(url))
    await eventually(
      'the server is named',
      async () => (await program.run(['apply', '-f', manifest])).code === 0,
      PATIENCE_MS,
    )
    await program.ok('apply', '-f', fileOf('examples/private-database'))
    await program.ok('wait', 'postgresqlinstance/app', '--for', 'condition=Ready', '--timeout', '180s')

    const uri = (await program.ok('connection', 'postgresqlinstance/app', '--show', '--format', 'uri')).trim()
    const { user, database } = new pg.Client({ connectionString: uri })
    assert.deepEqual(await query(uri, 'SELECT current_user AS user, current_database() AS database'), [
      { user, database },
    ])
    assert.ok(!`${plane.output}${plane.errors}`.includes(new URL(uri).password), 'the log has no password')

    await program.ok('delete', 'postgresqlinstance/app', '--wait=false')
    await eventually(
      'role and database are gone',
      async () =>
        (await query(url, `SELECT 1 FROM pg_roles, pg_database WHERE rolname = '${user}' OR datname = '${database}'`))
          .length === 0,
      PATIENCE_MS,
    )
  })
})

/** Returns the administrator URL of the PostgreSQL server that crosstie started. */
async function urlOf(program: Program): Promise<string> {
  const secret = await eventually(
    'the server is offered',
    async () => {
      const { code, out } = await program.run([
        'get',
        'secret',
        'postgresql-embedded',
        '-n',
        'crossplane-system',
        '-o',
        'json',
      ])
      return code === 0 ? (JSON.parse(out) as { data: Record<string, string> }) : undefined
    },
    PATIENCE_MS,
  )
  const value = (key: string) => encodeURIComponent(Buffer.from(secret.data[key]!, 'base64').toString())
  return `postgresql://${value('username')}:${value('password')}@${value('endpoint')}:${value('port')}/postgres`
}

const serverManifest = (url: string) => `
apiVersion: v1
kind: Namespace
metadata: {name: crossplane-system}
---
apiVersion: v1
kind: Secret
metadata: {name: server, namespace: crossplane-system}
stringData: {url: "${url}"}
---
apiVersion: postgresql.sql.crossplane.io/v1alpha1
kind: ProviderConfig
metadata: {name: default}
spec:
  credentials:
    source: Secret
    secretRef: {name: server, namespace: crossplane-system, key: url}
`

async function query(connectionString: string, text: string): Promise<Record<string, unknown>[]> {
  const session = new pg.Client({ connectionString, connectionTimeoutMillis: 120_000 })
  session.on('error', () => {})
  try {
    await session.connect()
    return (await session.query(text)).rows
  } finally {
    await session.end()
  }
}
