import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { Agent, get } from 'node:https'
import { after, test } from 'node:test'
import { load } from 'js-yaml'
import { eventually } from '../support/claims-world.js'
import { Program } from '../support/program.js'

const LONG = 180_000

const database = (name: string, connectionLimit: number, annotations = '{}') => `
apiVersion: postgresql.sql.crossplane.io/v1alpha1
kind: Database
metadata: {name: ${name}, annotations: ${annotations}}
spec:
  managementPolicies: [Observe, Create, Delete]
  forProvider: {connectionLimit: ${connectionLimit}}
`

/** Returns a function that reads /metrics as the user of the kubeconfig. */
async function reader(kubeconfig: string): Promise<() => Promise<string>> {
  const { clusters, users } = load(await readFile(kubeconfig, 'utf8')) as {
    clusters: [{ cluster: Record<string, string> }]
    users: [{ user: Record<string, string> }]
  }
  const { server, 'certificate-authority-data': ca = '' } = clusters[0].cluster
  const { 'client-certificate-data': cert = '', 'client-key-data': key = '' } = users[0].user
  const plain = (text: string) => Buffer.from(text, 'base64')
  const agent = new Agent({ ca: plain(ca), cert: plain(cert), key: plain(key) })
  return () =>
    new Promise((resolve, reject) => {
      get(`${server}/metrics`, { agent }, async (response) => {
        let text = ''
        for await (const chunk of response.setEncoding('utf8')) text += chunk
        resolve(text)
      }).on('error', reject)
    })
}

test('MR14 /metrics tells how many resources differ and how many wait, as it is now', {
  timeout: 600_000,
}, async () => {
  const program = await Program.up('--providers', 'sql', '--poll-seconds', '2')
  after(() => program[Symbol.asyncDispose]())
  const metrics = await reader(program.kubeconfig)
  const shows = (line: string, yes = true) =>
    eventually(`${line} is ${yes ? '' : 'not '}there`, async () => (await metrics()).includes(line) === yes, LONG)
  const apply = async (manifest: string) => {
    const { code, err } = await program.run(['apply', '-f', '-'], { input: manifest })
    assert.equal(code, 0, err)
  }
  const labels = 'group="postgresql.sql.crossplane.io",kind="Database"'
  const drifted = `crosstie_managed_drifted{${labels},decision="NotAllowed"} 1`
  const waiting = `crosstie_managed_awaiting_approval{${labels},reason="ApprovalRequired"} 1`

  assert.ok(await program.plane!.says(/^ {2}sql /m, LONG), program.plane!.errors)
  await apply(database('changed', 5))
  await program.ok('wait', 'database/changed', '--timeout', '3m')
  await shows(`crosstie_managed_observed{${labels}} 1`)
  assert.doesNotMatch(await metrics(), /^crosstie_managed_drifted\{/m, 'nothing differs yet')
  await apply(database('changed', 6))
  await shows(drifted)
  await apply(database('changed', 5))
  await shows(drifted, false)

  await apply(database('guarded', 5, '{crossplane.io/approval: required}'))
  await shows(waiting)
  await program.ok('approve', 'database/guarded', '--yes')
  await program.ok('wait', 'database/guarded', '--timeout', '3m')
  await shows(waiting, false)
})
