import { ignoring, isAlreadyExists, isNotFound, isObject, type KubeObject, type WriteOptions } from '@crosstie/kube'
import { WorkQueue } from '../workqueue.js'
import type { ControllerOptions } from './aggregation.js'
import { Followed } from './follow.js'
import { CONFIG_MAPS, NAMESPACES, SECRETS, SERVICE_ACCOUNTS } from './kinds.js'
import type { ServiceAccountTokens } from './tokens.js'

const FIELD_MANAGER = 'kube-controller-manager'
const ROOT_CA = 'kube-root-ca.crt'
const DESCRIPTION = {
  'kubernetes.io/description':
    'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.',
}
const TOKEN_TYPE = 'kubernetes.io/service-account-token'
const ACCOUNT_NAME = 'kubernetes.io/service-account.name'
const ACCOUNT_UID = 'kubernetes.io/service-account.uid'

/** Dependencies of runServiceAccounts. */
export interface ServiceAccountOptions extends ControllerOptions {
  readonly tokens: ServiceAccountTokens
  /** PEM of the authority that signed the serving certificate. */
  readonly ca: string
}

/**
 * Creates the `default` ServiceAccount and the `kube-root-ca.crt` ConfigMap in every namespace, fills Secrets that
 * request a service account token, and deletes those whose account was deleted. Runs until the signal aborts.
 */
export async function runServiceAccounts(options: ServiceAccountOptions, signal: AbortSignal): Promise<void> {
  await new ServiceAccounts(options, signal).run()
}

class ServiceAccounts {
  readonly #options: ServiceAccountOptions
  readonly #signal: AbortSignal
  readonly #namespaces = new Followed()
  readonly #accounts = new Followed()
  readonly #bundles = new Followed()
  readonly #secrets = new Followed()

  constructor(options: ServiceAccountOptions, signal: AbortSignal) {
    this.#options = options
    this.#signal = signal
  }

  async run(): Promise<void> {
    const { client, failed, sleep } = this.#options
    const signal = this.#signal
    const spawn = (what: string, work: (key: string) => Promise<void>) =>
      new WorkQueue(work, (key, error) => failed(`${what} ${key}`, error), { signal, pause: sleep })
    const accounts = spawn('create the default ServiceAccount of', (namespace) => this.#ensureAccount(namespace))
    const bundles = spawn(`write ${ROOT_CA} of`, (namespace) => this.#ensureBundle(namespace))
    const secrets = spawn('fill the token Secret', (key) => this.#fillSecret(key))

    const namespaceChanged = ({ metadata }: KubeObject) => {
      accounts.add(metadata.name!)
      bundles.add(metadata.name!)
    }
    const accountChanged = ({ metadata }: KubeObject) => {
      if (metadata.name === 'default') accounts.add(metadata.namespace!)
      for (const secret of this.#secrets.values()) {
        if (secret.metadata.namespace !== metadata.namespace) continue
        if (secret.metadata.annotations?.[ACCOUNT_NAME] === metadata.name) secrets.add(keyOf(secret))
      }
    }
    await Promise.all([
      this.#namespaces.run(client, NAMESPACES, {}, namespaceChanged, signal, sleep),
      this.#accounts.run(client, SERVICE_ACCOUNTS, {}, accountChanged, signal, sleep),
      this.#bundles.run(
        client,
        CONFIG_MAPS,
        { fieldSelector: `metadata.name=${ROOT_CA}` },
        ({ metadata }) => bundles.add(metadata.namespace!),
        signal,
        sleep,
      ),
      this.#secrets.run(
        client,
        SECRETS,
        { fieldSelector: `type=${TOKEN_TYPE}` },
        (secret) => secrets.add(keyOf(secret)),
        signal,
        sleep,
      ),
    ])
  }

  get #write(): WriteOptions {
    return { fieldManager: FIELD_MANAGER, signal: this.#signal }
  }

  #isActive(namespace: string): boolean {
    const found = this.#namespaces.get(undefined, namespace)
    return found !== undefined && found.metadata.deletionTimestamp === undefined
  }

  async #ensureAccount(namespace: string): Promise<void> {
    if (!this.#isActive(namespace) || this.#accounts.get(namespace, 'default')) return
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace } }
    await this.#create(SERVICE_ACCOUNTS, account)
  }

  async #ensureBundle(namespace: string): Promise<void> {
    if (!this.#isActive(namespace)) return
    const { ca, client } = this.#options
    const data = { 'ca.crt': ca }
    const current = this.#bundles.get(namespace, ROOT_CA)
    if (!current) {
      const metadata = { name: ROOT_CA, namespace, annotations: DESCRIPTION }
      await this.#create(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data })
      return
    }
    const kept = isObject(current['data']) ? current['data'] : {}
    if (Object.keys(kept).length === 1 && kept['ca.crt'] === ca && current.metadata.annotations) return
    const metadata = { ...current.metadata, annotations: current.metadata.annotations ?? DESCRIPTION }
    await client.update(CONFIG_MAPS, { ...current, metadata, data }, this.#write).catch(ignoring(isNotFound))
  }

  /** Creates an object. A deleted namespace and an existing object are ignored. */
  async #create(type: typeof SECRETS, object: KubeObject): Promise<void> {
    const expected = ignoring(isAlreadyExists, isNotFound, isTerminating)
    await this.#options.client.create(type, object, this.#write).catch(expected)
  }

  async #fillSecret(key: string): Promise<void> {
    const [namespace, name] = key.split('/') as [string, string]
    const secret = this.#secrets.get(namespace, name)
    if (!secret || secret.metadata.deletionTimestamp) return
    const accountName = secret.metadata.annotations?.[ACCOUNT_NAME]
    if (!accountName) return

    const account = await this.#account(namespace, accountName)
    const uid = secret.metadata.annotations?.[ACCOUNT_UID]
    const { client } = this.#options
    if (!account || (uid && uid !== account.metadata.uid)) {
      const { uid: secretUid, resourceVersion } = secret.metadata
      const preconditions = { uid: secretUid, resourceVersion }
      await client
        .delete(SECRETS, { namespace, name }, { preconditions, signal: this.#signal })
        .catch(ignoring(isNotFound))
      return
    }
    const filled = this.#filled(secret, account)
    if (filled) await client.update(SECRETS, filled, this.#write).catch(ignoring(isNotFound))
  }

  /**
   * Reads the account from the server before it is treated as deleted, because the cache may be stale and a
   * deletion is final.
   */
  async #account(namespace: string, name: string): Promise<KubeObject | undefined> {
    const known = this.#accounts.get(namespace, name)
    if (known) return known
    return await this.#options.client
      .get(SERVICE_ACCOUNTS, { namespace, name }, { signal: this.#signal })
      .catch(ignoring(isNotFound))
  }

  #filled(secret: KubeObject, account: KubeObject): KubeObject | undefined {
    const data = isObject(secret['data']) ? secret['data'] : {}
    const { ca, tokens } = this.#options
    const wanted = { 'ca.crt': base64(ca), namespace: base64(secret.metadata.namespace!) }
    const annotated = secret.metadata.annotations?.[ACCOUNT_UID] === account.metadata.uid
    const complete = data['token'] && data['ca.crt'] === wanted['ca.crt'] && data['namespace'] === wanted.namespace
    if (annotated && complete) return undefined
    return {
      ...secret,
      metadata: {
        ...secret.metadata,
        annotations: { ...secret.metadata.annotations, [ACCOUNT_UID]: account.metadata.uid! },
      },
      data: {
        ...data,
        ...wanted,
        token: data['token'] ? data['token'] : base64(tokens.issueForSecret(account, secret.metadata.name!)),
      },
    }
  }
}

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64')
const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`

/** Whether the error is the `NamespaceTerminating` of an object in a namespace under deletion. */
function isTerminating(error: unknown): boolean {
  const causes = (error as { details?: { causes?: readonly { reason?: string }[] } } | undefined)?.details?.causes
  return causes?.some(({ reason }) => reason === 'NamespaceTerminating') ?? false
}
