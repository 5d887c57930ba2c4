import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Access, findAccess, HttpClient, type Log, silentLog } from '@crosstie/controller'
import type { ObjectKey, ResourceType } from '@crosstie/kube'
import { type Input, type Option, textOf } from '../command.js'
import { type Kinds, readKinds } from './kinds.js'

/** How commands reach a Kubernetes API: ours or any other. */
export const accessOptions: Readonly<Record<string, Option>> = {
  kubeconfig: {
    type: 'string',
    value: 'FILE',
    help: 'How to reach the API (default $KUBECONFIG, .crosstie/kubeconfig, ~/.kube/config)',
  },
  context: { type: 'string', value: 'NAME', help: 'Which context of the kubeconfig (default its current one)' },
}

/** For commands about objects that may be in a namespace. */
export const namespaceOptions: Readonly<Record<string, Option>> = {
  namespace: {
    type: 'string',
    short: 'n',
    value: 'NAME',
    help: "Which namespace (default the kubeconfig's, or default)",
  },
}

/** Where `crosstie up` writes it when it is not told otherwise. */
const OWN_KUBECONFIG = '.crosstie/kubeconfig'

/** The Kubernetes API that a command talks to. */
export interface Api extends Disposable {
  readonly client: HttpClient
  readonly server: string
  /** Where objects are that say nothing else. */
  readonly namespace: string
  /** Asked for once. */
  kinds(): Promise<Kinds>
  /** How an object is found: cluster-scoped ones have no namespace. */
  keyOf(type: ResourceType, name: string): ObjectKey
}

export async function openApi({ values, err, signal, paint }: Input): Promise<Api> {
  const access = await accessOf(values)
  const warn = (message: string, fields: Readonly<Record<string, unknown>> = {}) =>
    err(paint.yellow(`Warning: ${String(fields['warning'] ?? message).replace(/^"(.*)"$/s, '$1')}`))
  const log: Log = { ...silentLog, warn }
  const client = new HttpClient(access, { log })
  const namespace = textOf(values, 'namespace') ?? access.namespace ?? 'default'
  let kinds: Promise<Kinds> | undefined
  return {
    client,
    server: access.server,
    namespace,
    kinds: () => (kinds ??= readKinds(client, signal)),
    keyOf: (type, name) => (type.namespaced ? { namespace, name } : { name }),
    [Symbol.dispose]: () => client.close(),
  }
}

/** Where the API is that the command line, the environment or this folder means. */
async function accessOf(values: Input['values']): Promise<Access> {
  const named = textOf(values, 'kubeconfig')
  const own = !named && !process.env['KUBECONFIG'] && existsSync(OWN_KUBECONFIG) ? OWN_KUBECONFIG : undefined
  const file = named ?? own
  return await findAccess({ ...(file ? { file: resolve(file) } : {}), context: textOf(values, 'context') })
}
