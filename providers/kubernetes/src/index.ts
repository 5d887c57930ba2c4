import { apiVersionOf, type Client, ignoring, isAlreadyExists } from '@crosstie/kube'
import { defineProvider } from '@crosstie/resources/provider'
import { providerConfig } from './clusters.js'
import { impersonationRights, OBJECTS_USER, objectsRoles } from './identity.js'
import { object } from './object.js'

export { providerConfig } from './clusters.js'
export { OBJECTS_LABEL, OBJECTS_USER } from './identity.js'
export { object } from './object.js'

/** The Kubernetes provider. */
export const provider = defineProvider({
  name: 'kubernetes',
  summary: 'Objects of any Kubernetes cluster, managed or observed.',
  kinds: [object],
  roles: objectsRoles,
  rights: impersonationRights,
  async start({ client }) {
    await offerOwnCluster(client)
    const summary = `objects of this cluster, with the rights of the user ${OBJECTS_USER} (ProviderConfig default)`
    return { summary, async [Symbol.asyncDispose]() {} }
  },
})

/** Creates a ProviderConfig `default` for the own cluster, unless one exists. */
async function offerOwnCluster(client: Client): Promise<void> {
  const { type } = providerConfig
  const config = {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: { name: 'default' },
    spec: { credentials: { source: 'InjectedIdentity' } },
  }
  await client.create(type, config).catch(ignoring(isAlreadyExists))
}
