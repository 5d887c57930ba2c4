import type { Log } from '@crosstie/controller'
import { type Client, equal, ignoring, isNotFound, type KubeObject, type ResourceType } from '@crosstie/kube'

const ROLES: ResourceType = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRole',
  resource: 'clusterroles',
  namespaced: false,
}
const FIELD_MANAGER = 'crosstie'

/** Brings a ClusterRole to the server, if it is not there as we know it. */
export async function installRole(client: Client, role: KubeObject, log: Log, signal: AbortSignal): Promise<void> {
  const name = role.metadata.name!
  const found = await client.get(ROLES, { name }, { signal }).catch(ignoring(isNotFound))
  const labels = Object.entries(role.metadata.labels ?? {})
  const same =
    found &&
    labels.every(([label, value]) => found.metadata.labels?.[label] === value) &&
    // The rules of one that aggregates are the server's to write.
    (role['rules'] ? equal(found['rules'], role['rules']) : equal(found['aggregationRule'], role['aggregationRule']))
  if (same) return
  const { apiVersion: _, kind: __, ...rest } = role
  const object = { ...rest, metadata: { ...role.metadata, name } }
  await client.apply(ROLES, object, { fieldManager: FIELD_MANAGER, force: true, signal })
  log.info(found ? 'changed a role' : 'installed a role', { role: name })
}
