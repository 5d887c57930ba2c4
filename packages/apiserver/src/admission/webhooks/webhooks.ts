import {
  append,
  badRequest,
  equal,
  isObject,
  type KubeObject,
  messageOf,
  type ResourceType,
  StatusError,
} from '@crosstie/kube'
import { applyJsonPatch } from '@crosstie/kube/patch'
import type { Authorizer } from '../../access/authorize.js'
import type { Change, Store } from '../../store/store.js'
import { type ClientConfig, Endpoint } from '../../transport/webhook-call.js'
import { type AdmissionAttributes, isExemptFromWebhooks, type Kinds } from './attributes.js'
import { bindRequest } from './bindings.js'
import { type Conditions, compileConditions, conditionError, evaluateConditions } from './conditions.js'
import { environmentFor } from './expressions.js'
import { type Matcher, matcherOf, matchOf } from './match.js'
import { admissionRequest, readAnswer, refusal, reviewVersion, UnsupportedPatch, type WebhookAnswer } from './review.js'

const GROUP_PREFIX = '/admissionregistration.k8s.io/'
const PREFIX = {
  mutating: `${GROUP_PREFIX}mutatingwebhookconfigurations/`,
  validating: `${GROUP_PREFIX}validatingwebhookconfigurations/`,
}
type Sort = keyof typeof PREFIX
const ENVIRONMENT = () => environmentFor(false, true, true)

/** Dependencies of Webhooks. */
export interface WebhooksOptions {
  readonly store: Pick<Store, 'get' | 'list' | 'subscribe'>
  readonly kinds: Kinds
  /** Answers authorization checks in match conditions. */
  readonly authorizer: Authorizer
  readonly newId: () => string
}

interface Webhook {
  readonly name: string
  readonly configuration: string
  readonly matcher: Matcher
  readonly conditions: Conditions
  readonly failurePolicy: string
  readonly sideEffects: string | undefined
  readonly timeoutSeconds: number
  readonly reinvoke: boolean
  readonly versions: readonly string[]
  readonly endpoint: Endpoint
}

/** The call failed. The failurePolicy of the webhook decides the result. */
class CallError extends Error {
  override readonly name = 'CallError'
}

/**
 * Calls admission webhooks. It watches their configurations. Without webhooks a request costs one check of an empty
 * list.
 */
export class Webhooks {
  readonly #options: WebhooksOptions
  readonly #stop: () => void
  #mutating: readonly Webhook[] = []
  #validating: readonly Webhook[] = []

  constructor(options: WebhooksOptions) {
    this.#options = options
    this.#stop = options.store.subscribe((changes) => this.#follow(changes))
    this.#load('mutating')
    this.#load('validating')
  }

  close(): void {
    this.#stop()
    for (const { endpoint } of [...this.#mutating, ...this.#validating]) endpoint.close()
  }

  /** Whether there are mutating webhooks. Without any, callers can skip preparations. */
  get hasMutating(): boolean {
    return this.#mutating.length > 0
  }

  get hasValidating(): boolean {
    return this.#validating.length > 0
  }

  /** Returns the object after mutating webhooks, in the version of the request. Throws when one denies or fails. */
  async mutate(attributes: AdmissionAttributes): Promise<KubeObject | undefined> {
    const webhooks = this.#mutating
    if (webhooks.length === 0 || isExemptFromWebhooks(attributes)) return attributes.object
    const round = { again: new Set<Webhook>(), earlier: new Set<Webhook>() }
    let current = attributes
    for (const [index, webhook] of webhooks.entries()) {
      const before = current.object
      const called = await this.#mutateOnce(webhook, index, 0, current)
      if (!called) continue
      current = { ...current, object: called.object }
      // Webhooks with reinvocationPolicy IfNeeded that ran before have seen an outdated object.
      if (!equal(before, called.object)) {
        for (const one of round.earlier) round.again.add(one)
        round.earlier.clear()
      }
      if (webhook.reinvoke) round.earlier.add(webhook)
    }
    for (const [index, webhook] of webhooks.entries()) {
      if (!round.again.has(webhook)) continue
      const called = await this.#mutateOnce(webhook, index, 1, current)
      if (called) current = { ...current, object: called.object }
    }
    return current.object
  }

  /** Calls validating webhooks in parallel. Throws the denial of the first in order. */
  async validate(attributes: AdmissionAttributes): Promise<void> {
    const webhooks = this.#validating
    if (webhooks.length === 0 || isExemptFromWebhooks(attributes)) return
    const relevant: { webhook: Webhook; address: ResourceType; converted: AdmissionAttributes }[] = []
    for (const webhook of webhooks) {
      const address = matchOf(webhook.matcher, attributes, this.#options.kinds, this.#options.store)
      if (!address) continue
      const converted = await this.#converted(attributes, address)
      if (this.#conditionsHold(webhook, converted, address)) relevant.push({ webhook, address, converted })
    }
    const outcomes = await Promise.allSettled(
      relevant.map(async ({ webhook, address, converted }, index) => {
        const answer = await this.#ask(webhook, index, 0, 'validating', converted, address)
        if (answer && !answer.allowed) throw refusal(webhook.name, answer.status)
      }),
    )
    const failed = outcomes.find((outcome) => outcome.status === 'rejected')
    if (failed) throw failed.reason
  }

  /** Undefined when the webhook did not match. */
  async #mutateOnce(
    webhook: Webhook,
    index: number,
    round: number,
    attributes: AdmissionAttributes,
  ): Promise<{ readonly object: KubeObject | undefined } | undefined> {
    const address = matchOf(webhook.matcher, attributes, this.#options.kinds, this.#options.store)
    if (!address) return undefined
    const converted = await this.#converted(attributes, address)
    if (!this.#conditionsHold(webhook, converted, address)) return undefined
    const answer = await this.#ask(webhook, index, round, 'mutating', converted, address)
    if (!answer) return { object: attributes.object }
    if (!answer.allowed) throw refusal(webhook.name, answer.status)

    const patched = applyAnswer(webhook, answer, converted.object)
    const mutated = !equal(patched, converted.object)
    attributes.annotations?.set(
      `mutation.webhook.admission.k8s.io/round_${round}_index_${index}`,
      JSON.stringify({ configuration: webhook.configuration, webhook: webhook.name, mutated }),
    )
    if (!mutated) return { object: attributes.object }
    const back =
      address === attributes.type || attributes.kind
        ? patched!
        : await this.#options.kinds.convert(patched!, attributes.type)
    return { object: back }
  }

  #conditionsHold(webhook: Webhook, attributes: AdmissionAttributes, address: ResourceType): boolean {
    if (webhook.conditions.length === 0) return true
    const inputs = ENVIRONMENT().inputs(bindRequest(attributes, address, this.#options.authorizer))
    const verdict = evaluateConditions(webhook.conditions, inputs, webhook.failurePolicy)
    if (typeof verdict === 'object') throw conditionError(attributes, verdict.error)
    return verdict === 'match'
  }

  async #converted(attributes: AdmissionAttributes, address: ResourceType): Promise<AdmissionAttributes> {
    if (address === attributes.type || attributes.kind) return attributes
    const { convert } = this.#options.kinds
    const [object, oldObject] = await Promise.all(
      [attributes.object, attributes.oldObject].map((one) => (one ? convert(one, address) : undefined)),
    )
    return { ...attributes, object, oldObject }
  }

  /** Undefined when the call failed and the failurePolicy is Ignore. */
  async #ask(
    webhook: Webhook,
    index: number,
    round: number,
    sort: Sort,
    attributes: AdmissionAttributes,
    address: ResourceType,
  ): Promise<WebhookAnswer | undefined> {
    try {
      const answer = await this.#call(webhook, sort, attributes, address)
      append(attributes.warnings, answer.warnings)
      for (const [key, value] of Object.entries(answer.auditAnnotations)) {
        attributes.annotations?.set(`${webhook.name}/${key}`, String(value))
      }
      return answer
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      if (webhook.failurePolicy !== 'Ignore') throw internalError(error.message, error)
      const prefix = sort === 'mutating' ? 'failed-open.mutation' : 'failed-open.validating'
      attributes.annotations?.set(`${prefix}.webhook.admission.k8s.io/round_${round}_index_${index}`, webhook.name)
      return undefined
    }
  }

  async #call(
    webhook: Webhook,
    sort: Sort,
    attributes: AdmissionAttributes,
    address: ResourceType,
  ): Promise<WebhookAnswer> {
    const { name, sideEffects } = webhook
    if (attributes.dryRun && sideEffects !== 'None' && sideEffects !== 'NoneOnDryRun') {
      throw badRequest(`admission webhook "${name}" does not support dry run`)
    }
    const fail = (why: string, cause: unknown) => new CallError(`failed calling webhook "${name}": ${why}`, { cause })
    const uid = this.#options.newId()
    let version: 'v1' | 'v1beta1'
    try {
      version = reviewVersion(webhook.versions)
    } catch (error) {
      throw fail(`could not create admission objects: ${messageOf(error)}`, error)
    }
    const review = {
      kind: 'AdmissionReview',
      apiVersion: `admission.k8s.io/${version}`,
      request: {
        ...admissionRequest(attributes, address, uid),
        object: attributes.object ?? null,
        oldObject: attributes.oldObject ?? null,
        options: attributes.options ?? null,
      },
    }
    let received: unknown
    try {
      received = await webhook.endpoint.post(review, webhook.timeoutSeconds, attributes.signal)
    } catch (error) {
      throw fail(`failed to call webhook: ${messageOf(error)}`, error)
    }
    try {
      return readAnswer(received, uid, version, sort === 'mutating')
    } catch (error) {
      const invalid = error instanceof UnsupportedPatch ? '' : 'received invalid webhook response: '
      throw fail(`${invalid}${messageOf(error)}`, error)
    }
  }

  #follow(changes: readonly Change[]): void {
    for (const sort of ['mutating', 'validating'] as const) {
      if (changes.some(({ key }) => key.startsWith(PREFIX[sort]))) this.#load(sort)
    }
  }

  /** Loads configurations, sorted by name. */
  #load(sort: Sort): void {
    const old = sort === 'mutating' ? this.#mutating : this.#validating
    const configurations = this.#options.store.list(PREFIX[sort]).items
    const webhooks = configurations.flatMap(({ object }) => this.#webhooksOf(object))
    if (sort === 'mutating') this.#mutating = webhooks
    else this.#validating = webhooks
    const used = new Set([...this.#mutating, ...this.#validating].map(({ endpoint }) => endpoint))
    for (const { endpoint } of old) if (!used.has(endpoint)) endpoint.close()
  }

  /** Connections are reused while a changed configuration keeps the address. */
  #endpoint(config: ClientConfig): Endpoint {
    const known = [...this.#mutating, ...this.#validating].find(({ endpoint }) => equal(endpoint.config, config))
    return known?.endpoint ?? new Endpoint(config)
  }

  #webhooksOf(configuration: KubeObject): Webhook[] {
    const listed = configuration['webhooks']
    if (!Array.isArray(listed)) return []
    return listed.filter(isObject).map((fields) => ({
      name: String(fields['name']),
      configuration: configuration.metadata.name ?? '',
      matcher: matcherOf(fields),
      conditions: compileConditions(fields['matchConditions'], ENVIRONMENT()),
      failurePolicy: fields['failurePolicy'] === 'Ignore' ? 'Ignore' : 'Fail',
      sideEffects: typeof fields['sideEffects'] === 'string' ? fields['sideEffects'] : undefined,
      timeoutSeconds: typeof fields['timeoutSeconds'] === 'number' ? fields['timeoutSeconds'] : 10,
      reinvoke: fields['reinvocationPolicy'] === 'IfNeeded',
      versions: Array.isArray(fields['admissionReviewVersions']) ? fields['admissionReviewVersions'].map(String) : [],
      endpoint: this.#endpoint(isObject(fields['clientConfig']) ? fields['clientConfig'] : {}),
    }))
  }
}

function applyAnswer(
  webhook: Webhook,
  { patch }: WebhookAnswer,
  object: KubeObject | undefined,
): KubeObject | undefined {
  if (patch === undefined) return object
  if (!object) {
    const why = `admission webhook "${webhook.name}" attempted to modify the object, which is not supported for this operation`
    throw internalError(why)
  }
  try {
    return withType(applyJsonPatch(object, patch), object)
  } catch (error) {
    const { cause } = error as Error
    throw internalError(cause instanceof Error ? cause.message : messageOf(error), error)
  }
}

/** Refuses a patch that changes the kind of the object or removes the object. */
function withType(patched: unknown, { apiVersion, kind }: KubeObject): KubeObject {
  if (!isObject(patched)) throw new Error('the patched object is not an object')
  return { ...patched, apiVersion, kind } as KubeObject
}

function internalError(why: string, cause?: unknown): StatusError {
  const details = { causes: [{ message: why }] }
  return new StatusError(500, 'InternalError', `Internal error occurred: ${why}`, { details, cause })
}
