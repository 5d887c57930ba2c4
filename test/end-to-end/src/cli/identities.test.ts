import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { HttpClient, kubeconfigAccess } from '@crosstie/controller'
import type { Client, KubeObject, ResourceType } from '@crosstie/kube'
import { type Plan, planRequestType } from '@crosstie/resources'
import { dump, load } from 'js-yaml'
import { Child } from '../support/children.js'
import { eventually } from '../support/kubectl.js'
import { startRealKubernetes } from '../support/oracle.js'
import { crosstie, Program } from '../support/program.js'

const PATIENCE_MS = 120_000
const rbac = 'rbac.authorization.k8s.io'

const manifests = (namespace: string) => `
apiVersion: v1
kind: Namespace
metadata: {name: ${namespace}}
---
apiVersion: nop.crossplane.io/v1alpha1
kind: NopResourceClass
metadata: {name: small-${namespace}, labels: {team: ${namespace}}}
specTemplate: {forProvider: {size: 41}}
`

const claim = (namespace: string) => `
apiVersion: database.crossplane.io/v1alpha1
kind: MySQLInstance
metadata: {namespace: ${namespace}, name: shop}
spec:
  classSelector: {matchLabels: {team: ${namespace}}}
`

const guarded = (size: number) => `
apiVersion: nop.crossplane.io/v1alpha1
kind: NopResource
metadata: {name: guarded, annotations: {crossplane.io/approval: required}}
spec: {forProvider: {size: ${size}}}
`

const plain = `
apiVersion: nop.crossplane.io/v1alpha1
kind: NopResource
metadata: {name: plain}
spec: {forProvider: {size: 1}}
`

/** A control plane, its administrator, and a kubeconfig for each user. */
interface Team extends AsyncDisposable {
  readonly program: Program
  readonly admin: Client
}

/** The three users of a team, each with the token of a service account and the permissions of shipped roles. */
const people = {
  infra: ['crosstie:infrastructure-operator'],
  pipeline: ['crosstie:infrastructure:edit', 'crosstie:plans:request'],
  application: ['crosstie:application-operator'],
} as const
type Person = keyof typeof people

function identities(open: () => Promise<Team>): void {
  let team: Team
  before(async () => {
    team = await open()
    const { program } = team
    await program.ok('wait', 'clusterrole/crosstie:plans:approve', '--for', 'create', '--timeout', '2m')
    await apply(manifests('shop'))
    for (const [person, roles] of Object.entries(people)) await employ(person as Person, roles)
    const namespace = ['-n', 'shop']
    await until('application', ['plan', 'mysqlinstance/none', ...namespace], 3)
    await until('infra', ['plan', 'nopresource/none', ...namespace], 3)
    await until('pipeline', ['plan', 'nopresource/none', ...namespace], 3)
  })
  after(async () => await team?.[Symbol.asyncDispose]())

  const apply = async (text: string) => {
    const { code, err } = await team.program.run(['apply', '-f', '-'], { input: text })
    assert.equal(code, 0, err)
  }

  const fileFor = (person: Person) => join(team.program.folder, `${person}.kubeconfig`)

  /** Runs a command as a user. */
  const as = (person: Person, args: readonly string[], input?: string) =>
    team.program.run([...args, '--kubeconfig', fileFor(person)], input === undefined ? {} : { input })

  /** Repeats a command until it exits with the code, because role aggregation takes a moment. */
  const until = async (person: Person, args: readonly string[], code: number) =>
    await eventually(
      async () => await as(person, args),
      (ran) => ran.code === code,
      PATIENCE_MS,
    )

  async function employ(person: Person, roles: readonly string[]): Promise<void> {
    const subjects = [{ kind: 'ServiceAccount', name: person, namespace: 'shop' }]
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: person, namespace: 'shop' } }
    const bindings = roles.map((role, i) => ({
      apiVersion: `${rbac}/v1`,
      kind: person === 'application' ? 'RoleBinding' : 'ClusterRoleBinding',
      metadata: { name: `${person}-${i}`, ...(person === 'application' ? { namespace: 'shop' } : {}) },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
      subjects,
    }))
    await apply([account, ...bindings].map((object) => JSON.stringify(object)).join('\n---\n'))
    const accounts: ResourceType = {
      group: '',
      version: 'v1',
      kind: 'ServiceAccount',
      resource: 'serviceaccounts',
      namespaced: true,
    }
    const request = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: { name: person },
      spec: {},
    }
    const answer = await team.admin.create<KubeObject>(
      accounts,
      { ...request, metadata: { name: person, namespace: 'shop' } } as KubeObject,
      { subresource: 'token' } as object,
    )
    const { token } = answer['status'] as { token: string }
    const config = load(await readFile(team.program.kubeconfig, 'utf8')) as {
      users: { name: string; user: object }[]
      contexts: { context: { namespace?: string } }[]
    }
    for (const each of config.users) each.user = { token }
    for (const { context } of config.contexts) context.namespace = 'shop'
    await writeFile(fileFor(person), dump(config))
  }

  test('an application operator plans a claim and sees outcomes, but no fields of the class', async () => {
    const { code, out, err } = await as('application', ['plan', '-f', '-', '-o', 'json'], claim('shop'))
    assert.equal(code, 6, err)
    const { resources, claims, summary } = JSON.parse(out) as Plan
    assert.equal(summary.create, 1)
    assert.equal(claims?.[0]?.error, undefined)
    assert.equal(resources[0]?.hidden, true)
    assert.deepEqual(
      resources[0]?.steps.map(({ action, fields }) => [action, fields]),
      [['create', []]],
    )
    assert.doesNotMatch(out, /41/)
  })

  test('an application operator plans no managed resource, lists nothing, and sees no other namespace', async () => {
    await apply(plain)
    const managed = await as('application', ['plan', 'nopresource/plain'])
    assert.deepEqual(
      [managed.code, /may not get nopresources\.nop\.crossplane\.io\/plain/.test(managed.err)],
      [1, true],
    )
    const listed = await as('application', ['discover', 'nop', 'all'])
    assert.deepEqual([listed.code, /forbidden|Forbidden/.test(listed.err)], [1, true], listed.err)
    await apply(manifests('other').replace(/---[\s\S]*/, ''))
    const other = await as('application', ['plan', '-f', '-', '-n', 'other'], claim('other'))
    assert.notEqual(other.code, 0)
    assert.match(other.err, /forbidden/i)
  })

  test('a request in the name of another user is refused at admission', async () => {
    const client = new HttpClient(await kubeconfigAccess({ file: fileFor('application') }))
    const forged = (requestedBy: object): KubeObject => ({
      apiVersion: 'crosstie.io/v1alpha1',
      kind: 'PlanRequest',
      metadata: { generateName: 'forged-', namespace: 'shop' },
      spec: { requestedBy, all: true },
    })
    const own = 'system:serviceaccount:shop:application'
    await assert.rejects(
      client.create(planRequestType, forged({ username: 'admin' })),
      /must be system:serviceaccount:shop/,
    )
    await assert.rejects(
      client.create(planRequestType, forged({ username: own, groups: ['system:masters'] })),
      /a group that the user who creates the request is not in/,
    )
    client.close()
  })

  test('a pipeline plans and applies, and may neither approve nor lift the need for approval', async () => {
    const planned = await as('pipeline', ['plan', '-f', '-', '-o', 'json'], guarded(2))
    assert.equal(planned.code, 6, planned.err)
    const applied = await as('pipeline', ['apply', '-f', '-'], guarded(2))
    assert.equal(applied.code, 0, applied.err)
    const approved = await as('pipeline', ['approve', 'nopresource/guarded', '--yes'])
    assert.deepEqual(
      [approved.code, /may not approve plans of NopResource guarded/.test(approved.err)],
      [1, true],
      approved.err,
    )
    const lifted = await as(
      'pipeline',
      ['apply', '-f', '-', '--force'],
      guarded(2).replace('approval: required', 'note: x'),
    )
    assert.deepEqual([lifted.code, /may not approve plans/.test(lifted.err)], [1, true], lifted.err)
  })

  test('an infrastructure operator approves exactly the plan that was shown', async () => {
    const shown = await as('infra', ['approve', 'nopresource/guarded'])
    const [, command = ''] = /To approve this plan: crosstie (.*)/.exec(shown.out) ?? []
    assert.match(command, /--digest sha256:/, shown.out + shown.err)
    await apply(guarded(3))
    const stale = await as('infra', command.split(' '))
    assert.deepEqual([stale.code, /the plan that is shown now is another one/.test(stale.err)], [1, true], stale.err)
    const [, current = ''] =
      /To approve this plan: crosstie (.*)/.exec((await as('infra', ['approve', 'nopresource/guarded'])).out) ?? []
    const approved = await as('infra', current.split(' '))
    assert.equal(approved.code, 0, approved.err)
    await team.program.ok('wait', 'nopresource/guarded', '--for', 'condition=Approved', '--timeout', '2m')
  })

  test('a plan reads clusters with the rights of Objects, not with those of the controllers', async () => {
    await apply(`
apiVersion: v1
kind: Secret
metadata: {name: treasure, namespace: other}
stringData: {word: open-sesame}
---
apiVersion: kubernetes.crossplane.io/v1alpha1
kind: ProviderConfig
metadata: {name: default}
spec: {credentials: {source: InjectedIdentity}}
`)
    const object = `
apiVersion: kubernetes.crossplane.io/v1alpha1
kind: Object
metadata: {name: spy}
spec:
  managementPolicies: [Observe]
  forProvider:
    manifest: {apiVersion: v1, kind: Secret, metadata: {name: treasure, namespace: other}}
`
    const { code, out } = await as('infra', ['plan', '-f', '-', '-o', 'json'], object)
    assert.equal(code, 1, out)
    assert.match(out, /User \\"crosstie:objects\\" cannot get/)
    assert.doesNotMatch(out, /open-sesame|b3Blbi1zZXNhbWU/)
  })

  test('requests are deleted once they were answered', async () => {
    const { items } = await team.admin.list(planRequestType)
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      [],
    )
  })
}

const open = async (program: Program, controllers?: Child): Promise<Team> => {
  const admin = new HttpClient(await kubeconfigAccess({ file: program.kubeconfig }))
  return {
    program,
    admin,
    async [Symbol.asyncDispose]() {
      admin.close()
      await controllers?.stop()
      await program[Symbol.asyncDispose]()
    },
  }
}

const PROVIDERS = ['--providers', 'nop,kubernetes']

describe('plans by three identities on the embedded server', () =>
  identities(async () => await open(await Program.up(...PROVIDERS))))

const real = await startRealKubernetes()
describe('plans by three identities on a real kube-apiserver', {
  skip: typeof real === 'string' ? `no real Kubernetes API: ${real}` : false,
}, () => {
  if (typeof real === 'string') return
  after(async () => await real[Symbol.asyncDispose]())
  identities(async () => {
    const args = [crosstie, 'controllers', '--kubeconfig', real.kubeconfig, '--standalone', ...PROVIDERS]
    return await open(await Program.on(real.kubeconfig), new Child(process.execPath, args, process.env))
  })
})
