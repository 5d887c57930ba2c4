import { mkdir } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { attempt } from '@crosstie/kube'
import type { KeyPair } from './certificate.js'
import { writePrivately } from './files.js'

/** The content of a kubeconfig with one user that authenticates by certificate. */
export interface KubeconfigContent {
  /** `https://127.0.0.1:6443` */
  readonly server: string
  /** PEM. */
  readonly ca: string
  readonly client: KeyPair
}

/**
 * Writes a kubeconfig with one cluster, user and context, all named crosstie. Replaces the file atomically, with
 * mode 0600.
 */
export function writeKubeconfig(file: string, content: KubeconfigContent): Promise<void> {
  return attempt(`write the kubeconfig ${file}`, async () => {
    await mkdir(dirname(resolve(file)), { recursive: true })
    await writePrivately(resolve(file), kubeconfig(content), false)
  })
}

/** Returns the text of a kubeconfig. */
export function kubeconfig({ server, ca, client }: KubeconfigContent): string {
  return `apiVersion: v1
kind: Config
clusters:
- name: crosstie
  cluster:
    server: ${JSON.stringify(server)}
    certificate-authority-data: ${base64(ca)}
users:
- name: crosstie
  user:
    client-certificate-data: ${base64(client.cert)}
    client-key-data: ${base64(client.key)}
contexts:
- name: crosstie
  context:
    cluster: crosstie
    user: crosstie
current-context: crosstie
`
}

/** Reads a kubeconfig that `kubeconfig` wrote. Throws when it has no client certificate. */
export function readKubeconfig(text: string): KubeconfigContent {
  const field = (name: string) => new RegExp(`^\\s+${name}: (.+)$`, 'm').exec(text)?.[1]
  const decoded = (name: string) => Buffer.from(field(name) ?? '', 'base64').toString('utf8')
  const server = field('server')?.replace(/^"|"$/g, '')
  const ca = decoded('certificate-authority-data')
  const client = { cert: decoded('client-certificate-data'), key: decoded('client-key-data') }
  if (!server || !ca || !client.cert || !client.key) {
    throw new Error('the kubeconfig is not one that crosstie wrote: it needs a server, its CA and a client certificate')
  }
  return { server, ca, client }
}

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64')
