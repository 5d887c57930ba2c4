import { type Client, ignoring, isNotFound, type KubeObject, type ResourceType, statusOf } from '@crosstie/kube'
import { ADMISSION_GROUP } from '../definition/name-policy.js'
import type { Requester } from './define.js'
import { IDENTITY_POLICY } from './identity-policy.js'

/** A request is not allowed or cannot be answered. The message is addressed to the requester. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  constructor(
    readonly reason: 'Forbidden' | 'IdentityNotVerified' | 'InvalidRequest' | 'TooLarge',
    message: string,
  ) {
    super(message)
  }
}

const admission = { group: ADMISSION_GROUP, version: 'v1', namespaced: false }
const POLICIES: ResourceType = {
  ...admission,
  kind: 'ValidatingAdmissionPolicy',
  resource: 'validatingadmissionpolicies',
}
const BINDINGS: ResourceType = {
  ...admission,
  kind: 'ValidatingAdmissionPolicyBinding',
  resource: 'validatingadmissionpolicybindings',
}
const ACCESS_REVIEWS: ResourceType = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SubjectAccessReview',
  resource: 'subjectaccessreviews',
  namespaced: false,
}

/**
 * Throws RequestError unless the server verified the user name of a request: the identity policy must be older than
 * the request.
 */
export async function verifyIdentity(client: Client, request: KubeObject, signal: AbortSignal): Promise<void> {
  const find = (type: ResourceType) =>
    client.get(type, { name: IDENTITY_POLICY }, { signal }).catch(ignoring(isNotFound))
  const found = await Promise.all([find(POLICIES), find(BINDINGS)])
  const { creationTimestamp = '' } = request.metadata
  const missing = found.some((object) => !object || (object.metadata.creationTimestamp ?? '') > creationTimestamp)
  if (!missing) return
  throw new RequestError(
    'IdentityNotVerified',
    `the server does not verify who creates requests: the ValidatingAdmissionPolicy ${IDENTITY_POLICY} and its binding ` +
      'must exist before the request. Install what `crosstie manifests` prints, then create the request again. ' +
      'Servers before Kubernetes 1.30 have no such policies: use `crosstie plan --local` there',
  )
}

/** One action on an object, or on all objects of a kind if it has no name. */
export interface Action {
  readonly verb: string
  readonly type: ResourceType
  readonly name?: string
  readonly namespace?: string
}

/** Checks the permissions of the author of one request with SubjectAccessReviews. Results are cached. */
export class Rights {
  readonly #answers = new Map<string, Promise<boolean>>()

  constructor(
    private readonly client: Client,
    private readonly requester: Requester,
    private readonly signal: AbortSignal,
  ) {}

  /** Returns whether the requester is allowed to perform the action. */
  allows(action: Action): Promise<boolean> {
    const { verb, type, namespace = '', name = '' } = action
    const key = [verb, type.group, type.resource, namespace, name].join(' ')
    let answer = this.#answers.get(key)
    if (!answer) {
      answer = this.#review(action)
      this.#answers.set(key, answer)
    }
    return answer
  }

  /** Throws RequestError that names the action unless the requester is allowed to perform it. */
  async require(action: Action): Promise<void> {
    if (await this.allows(action)) return
    const { verb, type, namespace, name } = action
    const resource = `${type.resource}.${type.group || 'core'}${name ? `/${name}` : ''}`
    const where = namespace ? ` in namespace ${namespace}` : ''
    throw new RequestError('Forbidden', `user ${this.requester.username} may not ${verb} ${resource}${where}`)
  }

  async #review({ verb, type, namespace, name }: Action): Promise<boolean> {
    const { username: user, groups } = this.requester
    const { group, version, resource } = type
    const where = { ...(namespace ? { namespace } : {}), ...(name ? { name } : {}) }
    const review = await this.client.create<KubeObject>(
      ACCESS_REVIEWS,
      {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        metadata: {},
        spec: { user, ...(groups ? { groups } : {}), resourceAttributes: { verb, group, version, resource, ...where } },
      },
      { signal: this.signal },
    )
    return statusOf<{ readonly allowed?: boolean }>(review).allowed === true
  }
}
