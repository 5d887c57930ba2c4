import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Case } from './harness/case.js'
import { Command } from './harness/command.js'
import { define } from './harness/crd.js'
import type { Loose } from './harness/http.js'
import { conformance } from './harness/suite.js'

/** A chart with what charts have: values, a config map, a secret, roles, custom objects, hooks, notes. */
function chart(group: string): Record<string, string> {
  return {
    'Chart.yaml': 'apiVersion: v2\nname: demo\nversion: 0.1.0\nappVersion: "1"\n',
    'values.yaml': 'size: 1\nextra: false\n',
    'templates/configmap.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-config\ndata:\n  size: {{ .Values.size | quote }}\n',
    'templates/secret.yaml':
      'apiVersion: v1\nkind: Secret\nmetadata:\n  name: {{ .Release.Name }}-secret\nstringData:\n  password: hunter2\n',
    'templates/rbac.yaml':
      'apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: {{ .Release.Name }}\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n  name: {{ .Release.Name }}\nrules:\n- apiGroups: [""]\n  resources: [configmaps]\n  verbs: [get]\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata:\n  name: {{ .Release.Name }}\nroleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: Role\n  name: {{ .Release.Name }}\nsubjects:\n- kind: ServiceAccount\n  name: {{ .Release.Name }}\n  namespace: {{ .Release.Namespace }}\n',
    'templates/widget.yaml': `apiVersion: ${group}/v1\nkind: Widget\nmetadata:\n  name: {{ .Release.Name }}\nspec:\n  size: {{ .Values.size }}\n`,
    'templates/extra.yaml':
      '{{ if .Values.extra }}\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-extra\n{{ end }}\n',
    'templates/hook.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-hook\n  annotations:\n    "helm.sh/hook": pre-install,pre-upgrade,post-delete\n    "helm.sh/hook-delete-policy": before-hook-creation\ndata:\n  revision: {{ .Release.Revision | quote }}\n',
    'templates/NOTES.txt': 'Thank you for installing {{ .Chart.Name }}.\n',
  }
}

async function scene(t: Case): Promise<{ helm: Command; ns: string; dir: string; group: string; path: string }> {
  const widgets = await define(t, {
    properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
  })
  const dir = mkdtempSync(join(tmpdir(), `helm-${t.id}-`))
  t.cleanup(() => rmSync(dir, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(chart(widgets.group))) {
    mkdirSync(dirname(join(dir, name)), { recursive: true })
    writeFileSync(join(dir, name), text)
  }
  const ns = await t.namespace()
  return { helm: new Command(t, 'helm'), ns, dir, group: widgets.group, path: widgets.path(ns) }
}

const state = ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
  code,
  lines: stdout
    .split('\n')
    .filter((line) => /^(NAME|STATUS|REVISION|NOTES|Thank|release|Rollback|DESCRIPTION)/.test(line)),
  errors: stderr.split('\n').filter((line) => line.startsWith('Error')),
})

/** What is in the namespace, by name. */
async function contents(t: Case, ns: string, widgets: string): Promise<Loose> {
  const names = async (path: string) =>
    (await t.must('GET', path)).body.items
      .map((item: Loose) => item.metadata.name)
      .filter((name: string) => name !== 'kube-root-ca.crt' && name !== 'default')
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}`
  return {
    configmaps: await names(`/api/v1/namespaces/${ns}/configmaps`),
    secrets: await names(`/api/v1/namespaces/${ns}/secrets`),
    roles: [...(await names(`${rbac}/roles`)), ...(await names(`${rbac}/rolebindings`))],
    widgets: (await t.must('GET', widgets)).body.items.map((item: Loose) => [
      item.metadata.name,
      item.spec.size,
      item.metadata.labels,
    ]),
  }
}

conformance(
  'helm',
  {
    'install, upgrade, rollback, uninstall': async (t) => {
      const { helm, ns, dir, path } = await scene(t)
      const run = async (args: string[]) => t.see(`helm ${args[0]}`, state(await helm.quiet(['-n', ns, ...args])))
      await run(['install', 'demo', dir, '--wait'])
      t.see('installed', await contents(t, ns, path))
      await run(['upgrade', 'demo', dir, '--set', 'size=2,extra=true'])
      t.see('upgraded', await contents(t, ns, path))
      await run(['rollback', 'demo', '1'])
      t.see('rolled back', await contents(t, ns, path))
      t.see(
        'history',
        JSON.parse((await helm.must(['-n', ns, 'history', 'demo', '-o', 'json'])).stdout).map(
          ({ revision, status, description }: Loose) => [revision, status, description],
        ),
      )
      t.see(
        'list',
        JSON.parse((await helm.must(['-n', ns, 'list', '-o', 'json'])).stdout).map(
          ({ name, revision, status, chart: of }: Loose) => [name, revision, status, of],
        ),
      )
      await run(['uninstall', 'demo', '--wait'])
      t.see('uninstalled', await contents(t, ns, path))
    },
    'install twice, and with what the server refuses': async (t) => {
      const { helm, ns, dir } = await scene(t)
      await helm.must(['-n', ns, 'install', 'demo', dir])
      const again = await helm.quiet(['-n', ns, 'install', 'demo', dir])
      t.see('again', state(again))
      const bad = await helm.quiet(['-n', ns, 'upgrade', 'demo', dir, '--set', 'size=big'])
      t.see('refused', { code: bad.code, size: bad.stderr.includes('size') })
      const dry = await helm.quiet(['-n', ns, 'upgrade', 'demo', dir, '--set', 'size=3', '--dry-run=server'])
      t.see('dry run', dry.code)
      t.see(
        'upgrade --install --atomic',
        state(await helm.quiet(['-n', ns, 'upgrade', '--install', 'demo', dir, '--set', 'size=4', '--atomic'])),
      )
    },
  },
  { needs: ['helm'], concurrency: 2 },
)
