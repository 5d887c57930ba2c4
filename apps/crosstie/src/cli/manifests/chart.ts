import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { loadRegistry, providerNames } from '../../daemon/registry.js'
import { ownVersion } from '../version/command.js'
import { definitions, type Part, workload, yamlOf } from './objects.js'

/** Placeholders in the objects for values of the chart. Only letters, so that YAML does not quote them. */
const blanks: Readonly<Record<string, string>> = {
  CHARTNAMESPACE: '{{ .Release.Namespace | quote }}',
  CHARTIMAGE: '{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}',
  CHARTREPLICAS: '{{ int .Values.replicas }}',
  CHARTSHARDS: '{{ int .Values.shards }}',
  CHARTPROVIDERS: '{{ join "," .Values.providers }}',
}

/** Places in the text where users may add settings. */
const openings: readonly { readonly part: string; readonly at: RegExp; readonly text: string }[] = [
  {
    part: 'serviceaccount',
    at: /^metadata:\n/m,
    text: 'metadata:\n{{- with .Values.serviceAccount.annotations }}\n  annotations:\n    {{- toYaml . | nindent 4 }}\n{{- end }}\n',
  },
  {
    part: 'deployment',
    at: /^( +)resources:\n(?:\1 .*\n)+/m,
    text: '$1resources:\n$1  {{- toYaml .Values.resources | nindent 10 }}\n',
  },
  {
    part: 'deployment',
    at: /^( +)env:\n/m,
    text: '$1env:\n$1{{- with .Values.env }}\n$1{{- toYaml . | nindent 8 }}\n$1{{- end }}\n',
  },
  {
    part: 'deployment',
    at: /^( +)- controllers\n/m,
    text: '$1- controllers\n$1{{- with .Values.terraform.mirror }}\n$1- --terraform-mirror={{ . }}\n$1{{- end }}\n',
  },
  {
    part: 'deployment',
    at: /^( +)volumeMounts:\n/m,
    text: '$1volumeMounts:\n$1{{- with .Values.volumeMounts }}\n$1{{- toYaml . | nindent 8 }}\n$1{{- end }}\n',
  },
  {
    part: 'deployment',
    at: /^( +)volumes:\n/m,
    text: '$1volumes:\n$1{{- with .Values.volumes }}\n$1{{- toYaml . | nindent 6 }}\n$1{{- end }}\n',
  },
  {
    part: 'rbac-terraform',
    at: /^rules:\n/m,
    text: [
      'rules:',
      '{{- range .Values.terraform.providers }}',
      '- apiGroups: ["{{ . }}.terraform.crosstie.io"]',
      '  resources: ["*"]',
      '  verbs: [get, list, watch, create, update, patch, delete]',
      '{{- end }}',
      '',
    ].join('\n'),
  },
]

const HEADER = "# Written by scripts/chart.mjs from what 'crosstie manifests' prints. Do not edit.\n"

/**
 * Returns the files of the Helm chart by path. Helm installs CRDs once and never updates them, so they are not
 * included by default.
 */
export async function chartFiles({ kinds = false } = {}): Promise<ReadonlyMap<string, string>> {
  const registry = await loadRegistry(providerNames)
  const version = await ownVersion()
  const deployment = {
    namespace: 'CHARTNAMESPACE',
    image: 'CHARTIMAGE',
    replicas: 'CHARTREPLICAS',
    shards: 'CHARTSHARDS',
    providers: 'CHARTPROVIDERS',
  }
  const files = new Map([
    ['Chart.yaml', chartYaml(version)],
    ['values.yaml', VALUES.replace('PROVIDERS', providerNames.map((name) => `\n  - ${name}`).join(''))],
  ])
  for (const { name, objects } of kinds ? definitions(registry, deployment.namespace) : []) {
    files.set(`crds/${name}.yaml`, HEADER + yamlOf(objects))
  }
  for (const part of workload(registry, deployment)) files.set(`templates/${part.name}.yaml`, template(part))
  return files
}

function template({ name, objects, provider }: Part): string {
  let text = yamlOf(objects)
  for (const { part, at, text: opened } of openings) {
    if (part !== name) continue
    if (!at.test(text)) throw new Error(`the chart has no place for ${opened}`)
    text = text.replace(at, opened)
  }
  for (const [blank, value] of Object.entries(blanks)) text = text.replaceAll(blank, value)
  const whole = HEADER + text
  return provider ? `{{- if has "${provider}" .Values.providers }}\n${whole}{{- end }}\n` : whole
}

const chartYaml = (version: string) => `${HEADER}apiVersion: v2
name: crosstie
description: Controllers of Crosstie, a control plane for infrastructure.
type: application
version: ${version}
appVersion: "${version}"
kubeVersion: ">=1.30.0-0"
`

const VALUES = `${HEADER}# Which kinds are managed: rights are given for these only. The kinds themselves come from 'crosstie manifests --only crds'.
providers:PROVIDERS

image:
  # Build it with deploy/Dockerfile and push it to where your cluster pulls from.
  repository: crosstie
  # Absent: the version of the chart.
  tag: ""

# One leads, the others wait to take over.
replicas: 2
# Above 1, the objects are divided into this number of shards, and all replicas work.
shards: 1

serviceAccount:
  # Such as the role that a cloud gives to the account.
  annotations: {}

# Further environment variables of the controllers.
env: []
# Further volumes, such as one with a mirror of Terraform providers.
volumes: []
volumeMounts: []

terraform:
  # Names of TerraformProviders that may be created: the controllers get rights on the kinds of these only.
  providers: []
  # A folder in the layout of a filesystem mirror. Terraform providers are taken from there only.
  mirror: ""

resources:
  requests:
    cpu: 100m
    memory: 256Mi
  limits:
    memory: 1Gi
`

/** Returns the paths of files that are missing, different or obsolete. */
export async function oldFiles(folder: string, files: ReadonlyMap<string, string>): Promise<readonly string[]> {
  const there = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const held = there.filter((each) => each.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const surplus = held.map((path) => path.slice(folder.length + 1)).filter((path) => !files.has(path))
  const old: string[] = [...surplus]
  for (const [path, text] of files) {
    if ((await readFile(join(folder, path), 'utf8').catch(() => undefined)) !== text) old.push(path)
  }
  return old.sort()
}

/** Writes the files of the chart, and removes obsolete ones. */
export async function writeChart(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  for (const [path, text] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}
