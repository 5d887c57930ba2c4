import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Access, findAccess, HttpClient, type Log, silentLog } from '@crosstie/controller'
import type { ObjectKey, ResourceType } from '@crosstie/kube'
import { type Input, type Option, textOf } from '../command.js'
import { type Kinds, readKinds } from './kinds.js'

/** Options of commands that use a Kubernetes API. */
export const accessOptions: Readonly<Record<string, Option>> = {
  kubeconfig: {
    type: 'string',
    value: 'FILE',
    help: 'The kubeconfig (default $KUBECONFIG, .crosstie/kubeconfig, ~/.kube/config)',
  },
  context: { type: 'string', value: 'NAME', help: 'The context of the kubeconfig (default its current one)' },
}

/** Options of commands for namespaced objects. */
export const namespaceOptions: Readonly<Record<string, Option>> = {
  namespace: {
    type: 'string',
    short: 'n',
    value: 'NAME',
    help: "The namespace (default the kubeconfig's, or default)",
  },
}

/** The default path of the kubeconfig that `crosstie up` writes. */
const OWN_KUBECONFIG = '.crosstie/kubeconfig'

/** The Kubernetes API of a command. */
export interface Api extends Disposable {
  readonly client: HttpClient
  readonly server: string
  /** The default namespace. */
  readonly namespace: string
  /** Returns the kinds of the server. They are read once. */
  kinds(): Promise<Kinds>
  /** Returns the key of an object. Cluster-scoped objects do not have a namespace. */
  keyOf(type: ResourceType, name: string): ObjectKey
}

/** Connects to the API that the command line, the environment or this folder defines. */
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

/** Returns the address and credentials of the API. */
async function accessOf(values: Input['values']): Promise<Access> {
  const named = textOf(values, 'kubeconfig')
  const own = !named && !process.env['KUBECONFIG'] && existsSync(OWN_KUBECONFIG) ? OWN_KUBECONFIG : undefined
  const file = named ?? own
  return await findAccess({ ...(file ? { file: resolve(file) } : {}), context: textOf(values, 'context') })
}
