import assert from 'node:assert/strict'
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { HttpClient, kubeconfigAccess } from '@crosstie/controller'
import type { Client, KubeObject, ResourceType } from '@crosstie/kube'
import { compileSchema, type JSONSchemaProps } from '@crosstie/kube/schema'
import type { Plan, PlannedResource } from '@crosstie/resources'
import { Child } from '../support/children.js'
import { eventually } from '../support/kubectl.js'
import { startRealKubernetes } from '../support/oracle.js'
import { condition } from '../support/plane.js'
import { crosstie, fileOf, Program } from '../support/program.js'
import { followTranscript } from '../support/transcript.js'

const PATIENCE_MS = 120_000

const kindOf = (group: string, kind: string, resource: string, namespaced = false): ResourceType => ({
  group,
  version: group === '' ? 'v1' : 'v1alpha1',
  kind,
  resource,
  namespaced,
})
const notes = kindOf('notes.example.org', 'Note', 'notes')
const folders = kindOf('notes.example.org', 'Folder', 'folders')
const secrets = kindOf('', 'Secret', 'secrets', true)
const events = kindOf('', 'Event', 'events', true)

const schema = JSON.parse(await readFile(fileOf('docs/reference/plan.schema.json'), 'utf8')) as JSONSchemaProps
const compiled = compileSchema(schema)

/** A control plane with the provider of the example, and a folder that represents its cloud. */
interface Stage extends AsyncDisposable {
  readonly program: Program
  readonly client: Client
  /** The folder in which the provider stores its resources. */
  readonly cloud: string
  /** A copy of the example. */
  readonly folder: string
}

async function stageOn(start: (env: NodeJS.ProcessEnv, provider: string) => Promise<readonly [Program, Child?]>) {
  const provider = fileOf('examples/plan/provider.js')
  // The provider reads this variable when it is loaded, in the control plane and in each command.
  const cloud = join(process.env['TMPDIR'] ?? '/tmp', `crosstie-notes-${process.pid}-${Date.now()}`)
  await mkdir(cloud, { recursive: true })
  process.env['NOTES'] = cloud
  const [program, controllers] = await start({ ...process.env, NOTES: cloud }, provider)
  const folder = join(program.folder, 'example')
  await mkdir(folder)
  for (const name of await readdir(fileOf('examples/plan'))) {
    if (name.endsWith('.yaml')) await cp(fileOf(`examples/plan/${name}`), join(folder, name))
  }
  // Node.js resolves imports relative to the module.
  await writeFile(join(folder, 'provider.js'), `export { provider } from ${JSON.stringify(`file://${provider}`)}\n`)
  const client = new HttpClient(await kubeconfigAccess({ file: program.kubeconfig }))
  await eventually(
    () =>
      client
        .list(notes)
        .then(() => client.list(folders))
        .then(() => 'served', String),
    (state) => state === 'served',
    PATIENCE_MS,
  )
  const stage: Stage = {
    program,
    client,
    cloud,
    folder,
    async [Symbol.asyncDispose]() {
      client.close()
      await controllers?.stop()
      await program[Symbol.asyncDispose]()
    },
  }
  return stage
}

const embedded = () => stageOn(async (_, provider) => [await Program.up('--providers', provider)])

const remote = (kubeconfig: string) =>
  stageOn(async (env, provider) => {
    const args = [crosstie, 'controllers', '--kubeconfig', kubeconfig, '--standalone', '--providers', provider]
    return [await Program.on(kubeconfig), new Child(process.execPath, args, env)]
  })

/** Returns everything that a plan could write by mistake, with resource versions. */
async function everything({ client, cloud }: Stage): Promise<string> {
  const lists = await Promise.all([notes, folders, secrets, events].map((type) => client.list(type)))
  const objects = lists.flatMap(({ items }) =>
    items.map(({ kind, metadata }) => [kind, metadata.name, metadata.resourceVersion]),
  )
  return JSON.stringify([objects.sort(), (await readdir(cloud, { recursive: true })).sort()])
}

/** Tests that run on every Kubernetes API. */
function planning(open: () => Promise<Stage>, { guide }: { readonly guide: boolean }): void {
  let stage: Stage
  before(async () => {
    stage = await open()
  })
  after(async () => {
    await stage?.[Symbol.asyncDispose]()
  })

  const run = (...args: readonly string[]) => stage.program.run(args, { cwd: stage.folder })

  const planned = async (...args: readonly string[]): Promise<Plan & { code: number }> => {
    const { code, out, err } = await run('plan', ...args, '-o', 'json')
    assert.ok(out.startsWith('{'), `${code}: ${out}${err}`)
    const plan = JSON.parse(out) as Plan
    assert.deepEqual(compiled.validate(plan), [], 'the plan is as its schema says')
    return { ...plan, code }
  }

  const write = async (name: string, ...objects: readonly object[]): Promise<string> => {
    await writeFile(join(stage.folder, name), objects.map((object) => JSON.stringify(object)).join('\n---\n'))
    return name
  }

  const folder = (name: string, label: string, metadata: object = {}) => ({
    apiVersion: 'notes.example.org/v1alpha1',
    kind: 'Folder',
    metadata: { name, ...metadata },
    spec: { forProvider: { label } },
  })

  const until = async (type: ResourceType, name: string, conditionType: string, want: string) =>
    await eventually(
      () => stage.client.get(type, { name }).then((object) => stateOf(object, conditionType), String),
      (state) => state === want,
      PATIENCE_MS,
    )

  test('a plan for files writes nothing anywhere, follows references and shows no secret', async () => {
    const before = await everything(stage)
    const { resources, summary, code } = await planned('-f', 'notes.yaml')
    assert.equal(code, 6)
    assert.deepEqual([summary.create, summary.error], [2, 0])
    const note = resources.find(({ kind }) => kind === 'Note')!
    assert.deepEqual(fieldIn(note, 'create', 'folderId'), { path: 'folderId', unknown: true })
    assert.deepEqual(fieldIn(note, 'create', 'pin'), { path: 'pin', sensitive: true })
    const { out, err } = await run('plan', '-f', 'notes.yaml')
    assert.ok(!JSON.stringify(resources).includes('correct-horse') && !`${out}${err}`.includes('correct-horse'))
    assert.equal(await everything(stage), before)
  })

  const walk = async () => {
    const { program, folder: here, cloud } = stage
    await followTranscript('docs/guides/plan-and-drift.md', { folder: here, program, env: { NOTES: cloud } })
  }
  if (guide) test('the guide: every command prints what the page shows', walk)

  test('what cannot be planned for is told, with the code for errors', async () => {
    const bad = await write('bad.json', { ...folder('bad', 'x'), spec: { forProvider: {} } })
    const { code, resources } = await planned('-f', bad)
    assert.equal(code, 1)
    assert.match(resources[0]!.error!, /bad\.json:1: .*label/)
    assert.equal((await run('plan', 'folder/no-such')).code, 3)
    assert.equal((await run('plan')).code, 2)
    assert.equal((await run('plan', 'secret/diary-pin')).code, 2)
    const unknown = await write('unknown.json', { ...folder('x', 'x'), kind: 'Fodler' })
    assert.match((await run('plan', '-f', unknown)).err, /unknown\.json:1: the server does not serve Fodler/)
  })

  test('a plan fails for managed kinds without a provider, and never passes them for unchanged', async () => {
    const lamp = {
      apiVersion: 'lamps.example.org/v1',
      kind: 'Lamp',
      metadata: { name: 'desk' },
      spec: { forProvider: {} },
    }
    const definitions = await write('lamps.json', lampDefinition)
    await stage.program.ok('apply', '-f', join(stage.folder, definitions))
    const file = await write('lamp.json', lamp)
    const { code, out } = await run('plan', '-f', file)
    assert.deepEqual([code, /no provider of this control plane manages Lamp/.test(out)], [1, true], out)
    await stage.program.ok('apply', '-f', join(stage.folder, file))
    const all = await run('plan', '--all')
    assert.deepEqual(
      [all.code, /no provider of this control plane manages lamps\.lamps/.test(all.out)],
      [1, true],
      all.out,
    )
    await stage.program.ok('delete', '-f', join(stage.folder, file))
  })

  test('--local plans with the providers of this process, and other options of it need --local', async () => {
    const file = await write('local.json', folder('local', 'x'))
    assert.equal((await run('plan', '-f', file, '--local', '--providers', './provider.js')).code, 6)
    const without = await run('plan', '-f', file, '--local')
    assert.deepEqual([without.code, /its provider is not in --providers/.test(without.out)], [1, true], without.out)
    const wrong = await run('plan', '-f', file, '--providers', './provider.js')
    assert.deepEqual([wrong.code, /--providers needs --local/.test(wrong.err)], [2, true], wrong.err)
  })

  test('an approved plan that went stale is refused, with the new difference in the condition and an event', async () => {
    const guard = { annotations: { 'crossplane.io/approval': 'required' } }
    const file = await write('guarded.json', folder('guarded', 'one', guard))
    const saved = await planned('-f', file)
    assert.equal(saved.resources[0]!.approval, 'Required')
    await writeFile(join(stage.folder, 'saved.json'), JSON.stringify(saved))
    await stage.program.ok(
      'apply',
      '-f',
      join(stage.folder, await write('moved.json', folder('guarded', 'two', guard))),
    )
    await until(folders, 'guarded', 'Approved', 'False ApprovalRequired')
    assert.equal((await run('approve', 'saved.json')).code, 0)
    await until(folders, 'guarded', 'Approved', 'False StalePlan')
    const made = (await readdir(stage.cloud, { recursive: true })).filter((name) => name.endsWith('.label'))
    for (const label of made) assert.notEqual(await readFile(join(stage.cloud, label), 'utf8'), 'one')
    await eventually(
      () => stage.client.list(events).then(({ items }) => items.map((event) => String(event['reason'])).join()),
      (text) => /StalePlan/.test(text),
      PATIENCE_MS,
    )

    const now = await planned('folder/guarded')
    assert.equal(now.resources[0]!.approval, 'Stale')
    assert.equal((await run('approve', 'folder/guarded', '--yes')).code, 0)
    await until(folders, 'guarded', 'Ready', 'True Available')
    assert.equal((await planned('folder/guarded')).code, 0)
  })

  test('what was planned for a file and approved is what happens when it is applied', async () => {
    const guard = { annotations: { 'crossplane.io/approval': 'required' } }
    const file = await write('agreed.json', folder('agreed', 'agreed', guard))
    const { resources } = await planned('-f', file)
    const digest = resources[0]!.digest!
    const approved = { annotations: { ...guard.annotations, 'crossplane.io/approved-plan': digest } }
    await stage.program.ok(
      'apply',
      '-f',
      join(stage.folder, await write('agreed.json', folder('agreed', 'agreed', approved))),
    )
    await until(folders, 'agreed', 'Ready', 'True Available')
  })

  test('fields that are gone from a manifest go, however it was applied the last time', async () => {
    const spec = (more: object) => ({
      ...folder('shrinking', 'l'),
      kind: 'Note',
      spec: { forProvider: { folderIdRef: { name: 'agreed' }, text: 't', ...more } },
    })
    const name = { name: 'shrinking' }
    const config = JSON.stringify(spec({ owner: 'me' }))
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': config }
    const object = { ...spec({ owner: 'me' }), metadata: { ...name, annotations } } as unknown as KubeObject
    await stage.client.create(notes, object)
    await until(notes, 'shrinking', 'Ready', 'True Available')
    const less = await planned('-f', await write('less.json', spec({})))
    assert.deepEqual([less.resources[0]!.object, less.resources[0]!.outcome], ['changed', 'adjust'])
    const late = less.resources[0]!.steps.find(({ action }) => action === 'lateInitialize')
    assert.deepEqual(late?.fields, [{ path: 'spec.forProvider.owner', to: 'me' }], 'it would be left to the provider')
  })

  test('drift is listed and watched as it comes and goes', async () => {
    const watched = { annotations: { 'crossplane.io/poll-interval': '1s' } }
    const only = { ...folder('seen', 'as wanted', watched) }
    await stage.program.ok('apply', '-f', join(stage.folder, await write('seen.json', only)))
    await until(folders, 'seen', 'Ready', 'True Available')
    const observed = { ...only, spec: { ...only.spec, managementPolicies: ['Observe', 'Create', 'Delete'] } }
    await stage.program.ok('apply', '-f', join(stage.folder, await write('seen.json', observed)))
    await using watch = stage.program.start('drift', 'folders', '--watch', '-o', 'json')
    const name = (await stage.client.get(folders, { name: 'seen' })).metadata.annotations![
      'crossplane.io/external-name'
    ]!
    await writeFile(join(stage.cloud, name, '.label'), 'meddled with')
    await until(folders, 'seen', 'Drifted', 'True NotAllowed')
    const listed = await stage.program.run(['drift', 'folders', '-o', 'json'])
    assert.equal(listed.code, 6)
    const { items } = JSON.parse(listed.out) as { items: readonly { name: string; fields: string[]; since: string }[] }
    const [item] = items.filter((each) => each.name === 'seen')
    assert.deepEqual(item?.fields, ['label'])
    assert.ok(Date.parse(item!.since) > 0)
    await watch.says(/"name":"seen".*"decision":"NotAllowed"/, PATIENCE_MS)
    await writeFile(join(stage.cloud, name, '.label'), 'as wanted')
    await watch.says(/"name":"seen".*"decision":"InStep"/, PATIENCE_MS)
  })
}

const lampDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'lamps.lamps.example.org' },
  spec: {
    group: 'lamps.example.org',
    scope: 'Cluster',
    names: { kind: 'Lamp', plural: 'lamps', singular: 'lamp', categories: ['managed'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}

const stateOf = (object: KubeObject, type: string): string => {
  const found = condition(object, type)
  return found ? `${found.status} ${found.reason}` : ''
}

const fieldIn = ({ steps }: PlannedResource, action: string, path: string) =>
  steps.find((step) => step.action === action)?.fields.find((field) => field.path === path)

describe('plan, approval and drift on the embedded server', () => planning(embedded, { guide: true }))

const real = await startRealKubernetes()
describe('plan, approval and drift on a real kube-apiserver', {
  skip: typeof real === 'string' ? `no real Kubernetes API: ${real}` : false,
}, () => {
  if (typeof real === 'string') return
  after(async () => await real[Symbol.asyncDispose]())
  planning(() => remote(real.kubeconfig), { guide: false })
})
