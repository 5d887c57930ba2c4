import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Case } from './harness/case.js'
import { Command, lines, type Ran } from './harness/command.js'
import { define } from './harness/crd.js'
import { conformance } from './harness/suite.js'

interface Scene {
  readonly ns: string
  readonly kubectl: Command
  /** A manifest, written to a file that goes with the case. */
  file(name: string, manifest: object | string): string
}

async function scene(t: Case): Promise<Scene> {
  const dir = mkdtempSync(join(tmpdir(), `kubectl-${t.id}-`))
  t.cleanup(() => rmSync(dir, { recursive: true, force: true }))
  const file = (name: string, manifest: object | string) => {
    const path = join(dir, name)
    writeFileSync(path, typeof manifest === 'string' ? manifest : JSON.stringify(manifest))
    return path
  }
  return { ns: await t.namespace(), kubectl: new Command(t, 'kubectl'), file }
}

/** Names of the case's own: kubectl finds kinds by name over all groups, and other cases have theirs. */
const widgetsOptions = (t: Case) => ({
  plural: `widgets${t.id}`,
  names: { shortNames: [`wd${t.id}`], singular: `widget${t.id}`, categories: [`things${t.id}`] },
  properties: {
    spec: {
      type: 'object',
      description: 'What is wanted.',
      required: ['size'],
      properties: {
        size: { type: 'integer', description: 'How big.' },
        color: { type: 'string', description: 'Which color.' },
        replicas: { type: 'integer' },
      },
    },
    status: {
      type: 'object',
      properties: {
        phase: { type: 'string' },
        replicas: { type: 'integer' },
        conditions: {
          type: 'array',
          items: { type: 'object', properties: { type: { type: 'string' }, status: { type: 'string' } } },
        },
      },
    },
  },
  version: {
    subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
    additionalPrinterColumns: [
      { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
      { name: 'Color', type: 'string', jsonPath: '.spec.color', priority: 1 },
    ],
  },
})

/** Paths of temporary files in what kubectl prints differ from run to run. */
const settled = ({ code, stdout, stderr }: Ran) => {
  const clean = (text: string) =>
    lines(
      text
        .replaceAll(/(\/[\w.-]+)+\/kubectl-\w+-\w+\//g, '')
        .replaceAll(/(\/[\w.-]+)*\/(LIVE|MERGED|kubectl-edit)-[\w./-]+/g, '$2'),
    )
  return { code, stdout: clean(stdout), stderr: clean(stderr) }
}

conformance(
  'kubectl',
  {
    'create, get, delete': async (t) => {
      const { ns, kubectl } = await scene(t)
      await kubectl.run(['-n', ns, 'create', 'configmap', 'a', '--from-literal=k=v'])
      await kubectl.run(['-n', ns, 'create', 'configmap', 'a', '--from-literal=k=v'])
      await kubectl.run(['-n', ns, 'get', 'configmap', 'a'])
      await kubectl.run(['-n', ns, 'get', 'cm', 'a', '-o', 'jsonpath={.data.k}'])
      await kubectl.run(['-n', ns, 'get', 'cm', 'a', '-o', 'name'])
      await kubectl.run(['-n', ns, 'get', 'cm', 'a', '-o', 'custom-columns=NAME:.metadata.name,K:.data.k'])
      await kubectl.run(['-n', ns, 'delete', 'configmap', 'a'])
      await kubectl.run(['-n', ns, 'get', 'configmap', 'a'])
      await kubectl.run(['-n', ns, 'get', 'nonsense'])
    },
    'create secrets, service accounts, roles, tokens, namespaces': async (t) => {
      const { ns, kubectl } = await scene(t)
      await kubectl.run(['-n', ns, 'create', 'secret', 'generic', 's', '--from-literal=p=q'])
      await kubectl.run(['-n', ns, 'create', 'serviceaccount', 'sa'])
      await kubectl.run(['-n', ns, 'create', 'token', 'sa'], {
        pick: ({ code, stdout }) => ({ code, parts: stdout.split('.').length }),
      })
      await kubectl.run(['-n', ns, 'create', 'role', 'r', '--verb=get,list', '--resource=configmaps'])
      await kubectl.run(['-n', ns, 'create', 'rolebinding', 'rb', '--role=r', `--serviceaccount=${ns}:sa`])
      await kubectl.run(['-n', ns, 'describe', 'rolebinding', 'rb'])
      await kubectl.run(['-n', ns, 'describe', 'role', 'r'])
      await kubectl.run(['-n', ns, 'describe', 'secret', 's'])
      await kubectl.run(['create', 'namespace', `other-${t.id}`])
      await kubectl.run(['get', 'namespace', `other-${t.id}`])
    },
    'apply: create, unchanged, configured, pruned field': async (t) => {
      const { ns, kubectl } = await scene(t)
      const manifest = (data: object) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'a', namespace: ns },
        data,
      })
      const apply = (data: object) => kubectl.run(['apply', '-f', '-'], { input: JSON.stringify(manifest(data)) })
      await apply({ k: 'v', l: 'w' })
      await apply({ k: 'v', l: 'w' })
      await apply({ k: 'x' })
      await kubectl.run(['-n', ns, 'get', 'cm', 'a', '-o', 'jsonpath={.data}'])
      await kubectl.run(['apply', '--dry-run=server', '-f', '-'], { input: JSON.stringify(manifest({ k: 'dry' })) })
      await kubectl.run(['apply', 'view-last-applied', '-n', ns, 'configmap', 'a', '-o', 'json'], {
        pick: ({ code, stdout }) => ({ code, data: JSON.parse(stdout).data }),
      })
    },
    'apply --server-side: conflicts and force': async (t) => {
      const { ns, kubectl } = await scene(t)
      const apply = (k: string, ...flags: string[]) =>
        kubectl.run(['apply', '--server-side', '-f', '-', ...flags], {
          input: JSON.stringify({
            apiVersion: 'v1',
            kind: 'ConfigMap',
            metadata: { name: 'a', namespace: ns },
            data: { k },
          }),
        })
      await apply('1')
      await apply('1')
      await apply('2', '--field-manager=other')
      await apply('2', '--field-manager=other', '--force-conflicts')
      await kubectl.run(['-n', ns, 'get', 'cm', 'a', '-o', 'jsonpath={.metadata.managedFields[*].manager}'])
    },
    'apply of several objects, a CRD and its objects among them': async (t) => {
      const { ns, kubectl } = await scene(t)
      const widgets = await define(t, widgetsOptions(t))
      const list = [
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'v' } },
        { ...widgets.object('w', { spec: { size: 1 } }) },
      ]
      const input = list.map((each) => JSON.stringify(each)).join('\n---\n')
      await kubectl.run(['-n', ns, 'apply', '-f', '-'], { input })
      await kubectl.run(['-n', ns, 'delete', '-f', '-'], { input })
    },
    'apply: client-side validation and the server-side one': async (t) => {
      const { ns, kubectl } = await scene(t)
      const widgets = await define(t, widgetsOptions(t))
      await kubectl.run(['-n', ns, 'apply', '-f', '-'], {
        input: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, nonsense: 1 }),
        pick: settled,
      })
      await kubectl.run(['-n', ns, 'apply', '-f', '-'], {
        input: JSON.stringify(widgets.object('w', { spec: { size: 'big', odd: 1 } })),
        pick: settled,
      })
      await kubectl.run(['-n', ns, 'apply', '-f', '-'], {
        input: JSON.stringify(widgets.object('w', { spec: { color: 'red' } })),
        pick: settled,
      })
      await kubectl.run(['-n', ns, 'apply', '--validate=warn', '-f', '-'], {
        input: JSON.stringify(widgets.object('w', { spec: { size: 1, odd: 1 } })),
        pick: settled,
      })
      await kubectl.run(['-n', ns, 'apply', '-f', '-'], {
        input: JSON.stringify({ apiVersion: 'none.example.com/v1', kind: 'None', metadata: { name: 'a' } }),
        pick: settled,
      })
    },
    diff: async (t) => {
      const { ns, kubectl } = await scene(t)
      const manifest = (k: string) =>
        JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: ns }, data: { k } })
      await kubectl.must(['apply', '-f', '-'], { input: manifest('1') })
      await kubectl.run(['diff', '-f', '-'], { input: manifest('1') })
      await kubectl.run(['diff', '-f', '-'], {
        input: manifest('2'),
        pick: ({ code, stdout }) => ({ code, changes: stdout.split('\n').filter((line) => /^[+-] /.test(line)) }),
      })
      await kubectl.run(['diff', '--server-side', '--force-conflicts', '-f', '-'], {
        input: manifest('3'),
        pick: ({ code, stdout }) => ({ code, changes: stdout.split('\n').filter((line) => /^[+-] {2}k:/.test(line)) }),
      })
    },
    'patch in three ways': async (t) => {
      const { ns, kubectl } = await scene(t)
      await kubectl.must(['-n', ns, 'create', 'configmap', 'a', '--from-literal=k=v'])
      await kubectl.run(['-n', ns, 'patch', 'cm', 'a', '-p', '{"data":{"k":"strategic"}}'])
      await kubectl.run(['-n', ns, 'patch', 'cm', 'a', '--type=merge', '-p', '{"data":{"k":"merge"}}'])
      await kubectl.run([
        '-n',
        ns,
        'patch',
        'cm',
        'a',
        '--type=json',
        '-p',
        '[{"op":"replace","path":"/data/k","value":"json"}]',
      ])
      await kubectl.run(['-n', ns, 'patch', 'cm', 'a', '--type=merge', '-p', '{"data":{"k":"json"}}'])
      await kubectl.run(['-n', ns, 'get', 'cm', 'a', '-o', 'jsonpath={.data.k}'])
      const widgets = await define(t, widgetsOptions(t))
      await t.must('POST', widgets.path(ns), { body: widgets.object('w', { spec: { size: 1 } }) })
      await kubectl.run(['-n', ns, 'patch', `widget${t.id}`, 'w', '--type=merge', '-p', '{"spec":{"size":2}}'])
      await kubectl.run(['-n', ns, 'patch', `widget${t.id}`, 'w', '-p', '{"spec":{"size":3}}'])
      await kubectl.run([
        '-n',
        ns,
        'patch',
        `widget${t.id}`,
        'w',
        '--subresource=status',
        '--type=merge',
        '-p',
        '{"status":{"phase":"Good"}}',
      ])
      await kubectl.run(['-n', ns, 'get', `widget${t.id}`, 'w', '-o', 'jsonpath={.spec.size} {.status.phase}'])
    },
    'edit with an editor': async (t) => {
      const { ns, kubectl, file } = await scene(t)
      await kubectl.must(['-n', ns, 'create', 'configmap', 'a', '--from-literal=k=before'])
      const editor = file('editor.sh', '#!/bin/sh\nsed -i s/before/after/ "$1"\n')
      chmodSync(editor, 0o755)
      await kubectl.run(['-n', ns, 'edit', 'cm', 'a'], { env: { KUBE_EDITOR: editor }, pick: settled })
      await kubectl.run(['-n', ns, 'edit', 'cm', 'a'], { env: { KUBE_EDITOR: editor }, pick: settled })
      await kubectl.run(['-n', ns, 'get', 'cm', 'a', '-o', 'jsonpath={.data.k}'])
    },
    replace: async (t) => {
      const { ns, kubectl } = await scene(t)
      const manifest = (k: string) =>
        JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: ns }, data: { k } })
      await kubectl.run(['replace', '-f', '-'], { input: manifest('1') })
      await kubectl.must(['create', '-f', '-'], { input: manifest('1') })
      await kubectl.run(['replace', '-f', '-'], { input: manifest('2') })
      await kubectl.run(['replace', '--force', '-f', '-'], { input: manifest('3') })
    },
    'label and annotate': async (t) => {
      const { ns, kubectl } = await scene(t)
      await kubectl.must(['-n', ns, 'create', 'configmap', 'a'])
      await kubectl.run(['-n', ns, 'label', 'cm', 'a', 'x=y'])
      await kubectl.run(['-n', ns, 'label', 'cm', 'a', 'x=z'])
      await kubectl.run(['-n', ns, 'label', 'cm', 'a', 'x=z', '--overwrite'])
      await kubectl.run(['-n', ns, 'annotate', 'cm', 'a', 'note=hello'])
      await kubectl.run(['-n', ns, 'get', 'cm', '-l', 'x=z', '-L', 'x', '--no-headers'])
      await kubectl.run(['-n', ns, 'label', 'cm', 'a', 'x-'])
    },
    'get: wide, yaml, json, selectors, sort, all namespaces': async (t) => {
      const { ns, kubectl } = await scene(t)
      const widgets = await define(t, widgetsOptions(t))
      for (const [name, size] of [
        ['b', 1],
        ['a', 2],
      ] as const)
        await t.must('POST', widgets.path(ns), { body: widgets.object(name, { spec: { size, color: 'red' } }) })
      await kubectl.run(['-n', ns, 'get', `widgets${t.id}`])
      await kubectl.run(['-n', ns, 'get', `wd${t.id}`, '-o', 'wide'])
      await kubectl.run(['-n', ns, 'get', `${widgets.plural}.${widgets.group}`, '--sort-by=.spec.size', '-o', 'name'])
      await kubectl.run(['-n', ns, 'get', `widget${t.id}`, 'a', '-o', 'yaml'], {
        pick: ({ code, stdout }) => ({
          code,
          lines: lines(stdout).filter((line) => !/uid|resourceVersion|creationTimestamp/.test(line)),
        }),
      })
      await kubectl.run([
        '-n',
        ns,
        'get',
        `widgets${t.id}`,
        '-o',
        'jsonpath={range .items[*]}{.metadata.name}={.spec.size} {end}',
      ])
      await kubectl.run(['get', `widgets${t.id}`, '-A', '--field-selector=metadata.name=a', '--no-headers'])
      await kubectl.run(['-n', ns, 'get', `widgets${t.id}`, '--chunk-size=1', '-o', 'name'])
      await kubectl.run(['-n', ns, 'get', `things${t.id}`, '-o', 'name'])
    },
    'describe a custom object and a config map': async (t) => {
      const { ns, kubectl } = await scene(t)
      const widgets = await define(t, widgetsOptions(t))
      await t.must('POST', widgets.path(ns), { body: widgets.object('w', { spec: { size: 1 } }) })
      const pick = ({ code, stdout }: Ran) => ({
        code,
        lines: lines(stdout).filter((line) => !/UID|Resource Version|Creation Timestamp/.test(line)),
      })
      await kubectl.run(['-n', ns, 'describe', `widget${t.id}`, 'w'], { pick })
      await kubectl.must(['-n', ns, 'create', 'configmap', 'a', '--from-literal=k=v'])
      await kubectl.run(['-n', ns, 'describe', 'cm', 'a'], { pick })
    },
    explain: async (t) => {
      const { kubectl } = await scene(t)
      const widgets = await define(t, widgetsOptions(t))
      await t.until(`/openapi/v3/apis/${widgets.group}/v1`, ({ status }) => status === 200)
      await kubectl.run(['explain', `${widgets.plural}.${widgets.group}.spec`])
      await kubectl.run(['explain', `${widgets.plural}.${widgets.group}.spec.size`])
      await kubectl.run(['explain', `${widgets.plural}.${widgets.group}`, '--recursive'], {
        pick: ({ code, stdout }) => ({ code, spec: stdout.includes('size') }),
      })
      await kubectl.run(['explain', `${widgets.plural}.${widgets.group}.none`])
      await kubectl.run(['explain', 'configmap.data'], {
        pick: ({ code, stdout }) => ({ code, lines: lines(stdout).slice(0, 3) }),
      })
    },
    wait: async (t) => {
      const { ns, kubectl } = await scene(t)
      const widgets = await define(t, widgetsOptions(t))
      await kubectl.run(['wait', '--for=condition=Established', `crd/${widgets.crd.metadata.name}`, '--timeout=20s'])
      await t.must('POST', widgets.path(ns), { body: widgets.object('w', { spec: { size: 1 } }) })
      const waiting = kubectl.quiet(['-n', ns, 'wait', '--for=condition=Ready', `widget${t.id}/w`, '--timeout=30s'])
      await t.must('PATCH', `${widgets.path(ns)}/w/status`, {
        type: 'application/merge-patch+json',
        body: { status: { conditions: [{ type: 'Ready', status: 'True' }] } },
      })
      t.see('ready', lines((await waiting).stdout))
      await kubectl.run(['-n', ns, 'wait', '--for=jsonpath={.spec.size}=1', `widget${t.id}/w`, '--timeout=10s'])
      const gone = kubectl.quiet(['-n', ns, 'wait', '--for=delete', `widget${t.id}/w`, '--timeout=30s'])
      await t.must('DELETE', `${widgets.path(ns)}/w`)
      t.see('gone', (await gone).code)
    },
    'delete --cascade': async (t) => {
      const { ns, kubectl } = await scene(t)
      for (const cascade of ['background', 'foreground', 'orphan']) {
        const parent = await t.must('POST', `/api/v1/namespaces/${ns}/configmaps`, {
          body: { metadata: { name: `p-${cascade}` } },
        })
        const { name, uid } = parent.body.metadata
        await t.must('POST', `/api/v1/namespaces/${ns}/configmaps`, {
          body: {
            metadata: {
              name: `c-${cascade}`,
              ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid, blockOwnerDeletion: true }],
            },
          },
        })
        await kubectl.run(['-n', ns, 'delete', 'cm', name, `--cascade=${cascade}`])
        const child = `/api/v1/namespaces/${ns}/configmaps/c-${cascade}`
        if (cascade === 'orphan') await t.get(child, { pick: (body) => body.metadata.ownerReferences ?? 'free' })
        else await t.until(child, ({ status }) => status === 404)
      }
      await kubectl.run(['-n', ns, 'delete', 'cm', '--all', '--field-selector=metadata.name!=kube-root-ca.crt'])
    },
    'auth can-i and whoami': async (t) => {
      const { ns, kubectl } = await scene(t)
      await kubectl.run(['-n', ns, 'auth', 'can-i', 'create', 'configmaps'])
      await kubectl.run(['-n', ns, 'auth', 'can-i', 'get', 'secrets', '--as', `nobody-${t.id}`])
      await kubectl.run(['auth', 'can-i', 'get', '/healthz', '--as', `nobody-${t.id}`])
      await kubectl.run(['-n', ns, 'auth', 'can-i', '--list', '--as', `nobody-${t.id}`], {
        pick: ({ code, stdout }) => ({ code, healthz: stdout.includes('/healthz') }),
      })
      await kubectl.run(['auth', 'whoami', '--as', 'alice', '--as-group', 'g', '-o', 'jsonpath={.status.userInfo}'])
      await kubectl.run(['-n', ns, 'get', 'secrets', '--as', `nobody-${t.id}`])
      await kubectl.run(['-n', ns, 'auth', 'reconcile', '-f', '-'], {
        input: JSON.stringify({
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'Role',
          metadata: { name: 'r', namespace: ns },
          rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }],
        }),
      })
    },
    'config and version': async (t) => {
      const { kubectl } = await scene(t)
      await kubectl.run(['config', 'view', '--minify', '-o', 'jsonpath={.kind}'])
      await kubectl.run(['config', 'current-context'], { pick: ({ code }) => code })
      await kubectl.run(['version', '-o', 'json'], {
        pick: ({ code, stdout }) => ({ code, server: JSON.parse(stdout).serverVersion.minor }),
      })
      await kubectl.run(['get', '--raw', '/readyz'])
    },
    'api-resources and api-versions': async (t) => {
      const { kubectl } = await scene(t)
      const widgets = await define(t, widgetsOptions(t))
      await t.until('/apis', ({ text }) => text.includes(widgets.group))
      await kubectl.run(['api-resources', `--api-group=${widgets.group}`, '-o', 'wide'])
      await kubectl.run(['api-resources', '--api-group=coordination.k8s.io', '--no-headers'])
      await kubectl.run(['api-versions'], {
        pick: ({ code, stdout }) => ({
          code,
          mine: stdout.includes(`${widgets.group}/v1`),
          core: /^v1$/m.test(stdout),
        }),
      })
    },
    'scale a custom object': async (t) => {
      const { ns, kubectl } = await scene(t)
      const widgets = await define(t, widgetsOptions(t))
      await t.must('POST', widgets.path(ns), { body: widgets.object('w', { spec: { size: 1, replicas: 1 } }) })
      await kubectl.run(['-n', ns, 'scale', `${widgets.plural}.${widgets.group}/w`, '--replicas=3'])
      await kubectl.run([
        '-n',
        ns,
        'scale',
        `${widgets.plural}.${widgets.group}/w`,
        '--replicas=4',
        '--current-replicas=9',
      ])
      await kubectl.run(['-n', ns, 'get', `widget${t.id}`, 'w', '-o', 'jsonpath={.spec.replicas}'])
      await kubectl.run(['-n', ns, 'get', `widget${t.id}`, 'w', '--subresource=scale'])
    },
    'get --watch': async (t) => {
      const { ns, kubectl } = await scene(t)
      const watching = kubectl.quiet([
        '-n',
        ns,
        'get',
        'cm',
        '--watch',
        '-o',
        'name',
        '-l',
        'mine',
        '--request-timeout=6s',
      ])
      await t.must('POST', `/api/v1/namespaces/${ns}/configmaps`, {
        body: { metadata: { name: 'a', labels: { mine: 'x' } } },
      })
      await t.must('POST', `/api/v1/namespaces/${ns}/configmaps`, {
        body: { metadata: { name: 'b', labels: { mine: 'x' } } },
      })
      t.see('names', [...new Set(lines((await watching).stdout))].sort())
    },
    events: async (t) => {
      const { ns, kubectl } = await scene(t)
      await t.must('POST', `/api/v1/namespaces/${ns}/events`, {
        body: {
          metadata: { name: 'e' },
          involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: ns },
          reason: 'Made',
          message: 'made it',
          type: 'Normal',
          lastTimestamp: new Date().toISOString().replace(/\.\d+/, ''),
        },
      })
      await kubectl.run(['-n', ns, 'events', '--for', 'configmap/a'], {
        pick: ({ code, stdout }) => ({ code, row: lines(stdout)[1]?.replace(/^\S+/, 'AGE') }),
      })
      await kubectl.run(['-n', ns, 'get', 'events', '--no-headers'], {
        pick: ({ code, stdout }) => ({ code, row: lines(stdout)[0]?.replace(/^\S+/, 'AGE') }),
      })
    },
    'a namespace goes with all that is in it': async (t) => {
      const { ns, kubectl } = await scene(t)
      await kubectl.must(['-n', ns, 'create', 'configmap', 'a'])
      await kubectl.run(['delete', 'namespace', ns, '--timeout=60s'])
      await kubectl.run(['get', 'namespace', ns])
    },
  },
  { needs: ['kubectl'], concurrency: 2 },
)
