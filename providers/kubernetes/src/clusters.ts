import { HttpClient, kubeconfigAccess } from '@crosstie/controller'
import { attempt, type Client } from '@crosstie/kube'
import { type ConnectContext, defineProviderConfig, type ProviderConfiguration } from '@crosstie/resources/provider'
import { Cluster } from './cluster.js'
import { OBJECTS_USER } from './identity.js'

/**
 * The ProviderConfig of a cluster. `InjectedIdentity` is the cluster of the Object, as the user {@link
 * OBJECTS_USER}. All other sources contain a kubeconfig.
 */
export const providerConfig = defineProviderConfig({ group: 'kubernetes.crossplane.io', version: 'v1alpha1' })

/** An open cluster. */
export interface Opened {
  /** Changes with the address or the credentials. */
  readonly id: string
  readonly cluster: Cluster
}

interface Remote extends Opened {
  readonly config: string
  readonly client: HttpClient
  holders: number
}

const known = new WeakMap<Client, Clusters>()

/** All clusters of the Objects of one API. Each is opened once. */
export class Clusters {
  readonly own: Opened
  readonly #remotes = new Map<string, Promise<Remote>>()
  readonly #open = new Map<string, Remote>()

  constructor(api: Client) {
    this.own = { id: 'own', cluster: new Cluster(api.as(OBJECTS_USER)) }
  }

  static of(api: Client): Clusters {
    const clusters = known.get(api) ?? new Clusters(api)
    known.set(api, clusters)
    return clusters
  }

  async reach({ config }: Pick<ConnectContext, 'config'>): Promise<Opened> {
    if (!config || isOwn(config)) return this.own
    const id = `${config.name} ${config.revision}`
    const held = this.#remotes.get(id)
    if (held) return await held
    const opening = this.#openRemote(id, config)
    this.#remotes.set(id, opening)
    opening.catch(() => this.#remotes.delete(id))
    return await opening
  }

  /** Keeps a cluster open. Returns a function that releases it. */
  hold(id: string): () => void {
    const remote = this.#open.get(id)
    if (!remote) return () => {}
    remote.holders++
    return () => {
      remote.holders--
      this.#closeUnused(remote)
    }
  }

  async #openRemote(id: string, { name, credentials }: ProviderConfiguration): Promise<Remote> {
    const access = await attempt(`reach the cluster of the ProviderConfig "${name}"`, async () => {
      if (!credentials?.trim()) throw new Error('its credentials are empty: they must hold a kubeconfig')
      return await kubeconfigAccess({ text: credentials })
    })
    // Replaced credentials without users.
    for (const old of this.#open.values()) if (old.config === name) this.#closeUnused(old)
    const client = new HttpClient(access)
    const remote = { id, config: name, client, cluster: new Cluster(client), holders: 0 }
    this.#open.set(id, remote)
    return remote
  }

  #closeUnused(remote: Remote): void {
    if (remote.holders > 0) return
    remote.client.close()
    this.#open.delete(remote.id)
    this.#remotes.delete(remote.id)
  }
}

function isOwn({ name, spec }: ProviderConfiguration): boolean {
  const { source } = spec['credentials'] as { readonly source?: string }
  if (source === 'None') {
    throw new Error(
      `the ProviderConfig "${name}" says credentials.source None: use InjectedIdentity for this cluster, or Secret for a kubeconfig`,
    )
  }
  return source === 'InjectedIdentity'
}
