import type { Case } from './case.js'
import type { Loose } from './http.js'
import { serveWebhook, type Webhook } from './webhook.js'

const ADMISSION = '/apis/admissionregistration.k8s.io/v1'
const PATIENCE_MS = 120_000

/** Returns rules for all operations on these resources. */
export const rulesFor = (group: string, ...resources: string[]): Loose => ({
  apiGroups: [group],
  apiVersions: ['v1'],
  operations: ['*'],
  resources,
})

/** Options of `reviewed`. */
export interface Reviewed {
  readonly rules: Loose
  /** Limits the webhook to the objects of the case. */
  readonly narrow?: Loose
  /** Sends a request that the webhook reviews, without effect on the case. */
  readonly probe: () => Promise<unknown>
  /** Returns the JSON patch of a mutating webhook for the request under review. Without it the webhook validates. */
  readonly patch?: (request: Loose) => Loose[] | undefined
  /** Whether the webhook admits. Defaults to true. */
  readonly allowed?: boolean
}

/** Registers a webhook that reviews the requests of the case. Resolves when the server calls it. */
export async function reviewed(t: Case, options: Reviewed): Promise<Webhook> {
  const { rules, narrow = {}, probe, patch, allowed = true } = options
  const hook = await serveWebhook(t, ({ apiVersion, kind, request }) => {
    const operations = patch?.(request)
    const mutation = operations && {
      patchType: 'JSONPatch',
      patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
    }
    return { apiVersion, kind, response: { uid: request.uid, allowed, ...mutation } }
  })
  const webhook = {
    name: 'hook.example.com',
    clientConfig: { url: hook.url, caBundle: hook.caBundle },
    rules: [rules],
    ...narrow,
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    timeoutSeconds: 30,
  }
  const configurations = `${ADMISSION}/${patch ? 'mutating' : 'validating'}webhookconfigurations`
  await t.must('POST', configurations, { body: { metadata: { name: `reviewed-${t.id}` }, webhooks: [webhook] } })
  t.cleanup(() => t.quiet('DELETE', `${configurations}/reviewed-${t.id}`))
  const deadline = Date.now() + PATIENCE_MS
  while (hook.requests.length === 0) {
    await probe()
    if (Date.now() > deadline) throw new Error('the webhook is never called')
  }
  hook.requests.length = 0
  return hook
}

/** Returns the reviewed requests, reduced to the relevant facts of their objects. */
export const seen = (hook: Webhook, fact: (object: Loose) => Loose): Loose =>
  hook.requests.map(({ request: { uid: _, userInfo, object, oldObject, ...rest } }) => ({
    ...rest,
    user: userInfo.username !== undefined,
    object: object && fact(object),
    oldObject: oldObject && fact(oldObject),
  }))

/** Options of `policed`. */
export interface Policed {
  readonly rules: Loose
  readonly conditions?: Loose[]
  readonly expression: string
  readonly messageExpression?: string
  /** Sends a request that the policy denies, and returns the status of the response. */
  readonly probe: () => Promise<{ readonly status: number }>
}

/** Creates a policy with a binding. Resolves when it denies. */
export async function policed(t: Case, { rules, conditions = [], probe, ...validation }: Policed): Promise<void> {
  const name = `policed-${t.id}`
  const create = async (resource: string, spec: Loose) => {
    await t.must('POST', `${ADMISSION}/${resource}`, { body: { metadata: { name }, spec } })
    t.cleanup(() => t.quiet('DELETE', `${ADMISSION}/${resource}/${name}`))
  }
  await create('validatingadmissionpolicies', {
    matchConstraints: { resourceRules: [rules] },
    ...(conditions.length > 0 ? { matchConditions: conditions } : {}),
    validations: [validation],
  })
  await create('validatingadmissionpolicybindings', { policyName: name, validationActions: ['Deny'] })
  const deadline = Date.now() + PATIENCE_MS
  while ((await probe()).status < 400) {
    if (Date.now() > deadline) throw new Error('the policy is never applied')
  }
}
