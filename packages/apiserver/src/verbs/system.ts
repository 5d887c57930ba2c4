import type { KubeObject } from '@crosstie/kube'
import { authenticated, MASTERS, serviceAccountGroups, serviceAccountUser, type UserInfo } from '../access/user.js'
import type { WriteRequest } from '../serving/request.js'
import type { Served } from '../serving/served.js'

/** The user and field manager of a write by the server itself. */
export interface SystemWriter {
  readonly user: UserInfo
  readonly fieldManager: string
}

/** Returns the writer of a controller of kube-controller-manager, with its service account. */
export function controller(name: string): SystemWriter {
  const namespace = 'kube-system'
  const user = { name: serviceAccountUser(namespace, name), groups: serviceAccountGroups(namespace) }
  return { user: authenticated(user), fieldManager: 'kube-controller-manager' }
}

/** The server itself. */
export const apiServer: SystemWriter = {
  user: authenticated({ name: 'system:apiserver', groups: [MASTERS] }),
  fieldManager: 'kube-apiserver',
}

/** Returns a write request of the server itself. Without a name it addresses the collection. */
export function systemRequest(
  writer: SystemWriter,
  served: Served,
  { name = '', namespace = '' }: Pick<KubeObject['metadata'], 'name' | 'namespace'> = {},
  subresource = '',
): WriteRequest {
  return {
    served,
    namespace: served.definition.namespaced ? namespace : '',
    name,
    subresource,
    user: writer.user,
    warnings: [],
    dryRun: false,
    fieldManager: writer.fieldManager,
    fieldValidation: 'Ignore',
  }
}
