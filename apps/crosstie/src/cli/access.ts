import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { findAccess, HttpClient } from '@crosstie/controller'
import { type Input, type Option, textOf } from '../command.js'

/** How commands reach a Kubernetes API: ours or any other. */
export const accessOptions: Readonly<Record<string, Option>> = {
  kubeconfig: {
    type: 'string',
    value: 'FILE',
    help: 'How to reach the API (default $KUBECONFIG, .crosstie/kubeconfig, ~/.kube/config)',
  },
  context: { type: 'string', value: 'NAME', help: 'Which context of the kubeconfig (default its current one)' },
}

/** Where `crosstie up` writes it when it is not told otherwise. */
const OWN_KUBECONFIG = '.crosstie/kubeconfig'

export async function openClient(values: Input['values']): Promise<HttpClient> {
  const named = textOf(values, 'kubeconfig')
  const own = !named && !process.env['KUBECONFIG'] && existsSync(OWN_KUBECONFIG) ? OWN_KUBECONFIG : undefined
  const file = named ?? own
  return new HttpClient(
    await findAccess({ ...(file ? { file: resolve(file) } : {}), context: textOf(values, 'context') }),
  )
}
