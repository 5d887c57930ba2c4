import { type KubeObject, messageOf, notFound, parseApiVersion, type ResourceType, StatusError } from '@crosstie/kube'
import type { Authorizer } from '../../access/authorize.js'
import type { Change, Store } from '../../store/store.js'
import { type AdmissionAttributes, admissionNamespace, isExemptFromPolicies } from '../webhooks/attributes.js'
import { type Bindings, bindRequest } from '../webhooks/bindings.js'
import { matchOf } from '../webhooks/match.js'
import { type Evaluation, evaluatePolicy } from './evaluate.js'
import { collectParams, type ParamKinds } from './params.js'
import { type Binding, bindingOf, compilePolicy, type Policy } from './policy.js'

const POLICIES = '/admissionregistration.k8s.io/validatingadmissionpolicies/'
const BINDINGS = '/admissionregistration.k8s.io/validatingadmissionpolicybindings/'
const ANNOTATION_MAX = 10 * 1024
const FAILURE_ANNOTATION = 'validation.policy.admission.k8s.io/validation_failure'

/** Dependencies of Policies. */
export interface PoliciesOptions {
  readonly store: Pick<Store, 'get' | 'list' | 'subscribe'>
  readonly kinds: ParamKinds
  /** Answers authorization checks in expressions. */
  readonly authorizer: Authorizer
}

interface Refusal {
  readonly policy: string
  readonly binding?: string
  readonly message: string
  readonly reason: string
}

const codes: Readonly<Record<string, number>> = {
  Forbidden: 403,
  Unauthorized: 401,
  RequestEntityTooLarge: 413,
  Invalid: 422,
}

/**
 * Evaluates ValidatingAdmissionPolicies. It watches policies and bindings and compiles expressions when a policy
 * changes. Without bound policies a request costs one check of an empty list.
 */
export class Policies {
  readonly #options: PoliciesOptions
  readonly #stop: () => void
  readonly #policies = new Map<string, Policy>()
  readonly #bindings = new Map<string, Binding>()
  #bound: readonly { readonly policy: Policy; readonly bindings: readonly Binding[] }[] = []

  constructor(options: PoliciesOptions) {
    this.#options = options
    const { store } = options
    this.#stop = store.subscribe((changes) => this.#follow(changes))
    for (const { key, object } of store.list(POLICIES).items) this.#putPolicy(key, object)
    for (const { key, object } of store.list(BINDINGS).items) this.#bindings.set(key, bindingOf(object))
    this.#bind()
  }

  close(): void {
    this.#stop()
  }

  /** Whether any policy is bound. */
  get active(): boolean {
    return this.#bound.length > 0
  }

  /** Throws when a policy denies the request. Adds the warnings and audit annotations of policies. */
  async validate(attributes: AdmissionAttributes): Promise<void> {
    if (this.#bound.length === 0 || isExemptFromPolicies(attributes)) return
    const refusals: Refusal[] = []
    for (const { policy, bindings } of this.#bound) await this.#apply(policy, bindings, attributes, refusals)
    if (refusals.length > 0) throw denial(attributes, refusals[0]!)
  }

  async #apply(
    policy: Policy,
    bindings: readonly Binding[],
    attributes: AdmissionAttributes,
    refusals: Refusal[],
  ): Promise<void> {
    const { kinds, store } = this.#options
    const misconfigured = (error: unknown, binding?: Binding) => {
      if (policy.failurePolicy === 'Ignore') return
      const message = `failed to configure ${binding ? 'binding' : 'policy'}: ${messageOf(error)}`
      refusals.push({ policy: policy.name, ...(binding ? { binding: binding.name } : {}), message, reason: 'Invalid' })
    }
    let address: ResourceType | undefined
    let paramType: ResourceType | undefined
    try {
      address = matchOf(policy.matcher, attributes, kinds, store)
      if (!address) return
      paramType = this.#paramType(policy)
    } catch (error) {
      misconfigured(error)
      return
    }
    const annotations = new Map<string, Set<string>>()
    for (const binding of bindings) {
      try {
        if (binding.matcher && !matchOf(binding.matcher, attributes, kinds, store)) continue
        for (const bindings of await this.#inputs(binding, paramType, attributes, address)) {
          this.#conclude(policy, binding, evaluatePolicy(policy, bindings), attributes, annotations, refusals)
        }
      } catch (error) {
        if (error instanceof StatusError) throw error
        misconfigured(error, binding)
      }
    }
    for (const [key, values] of annotations)
      attributes.annotations?.set(`${policy.name}/${key}`, [...values].join(', '))
  }

  #paramType({ paramKind }: Policy): ResourceType | undefined {
    if (!paramKind) return undefined
    const type = this.#options.kinds.find(paramKind.apiVersion, paramKind.kind)
    if (type) return type
    const { group, version } = parseApiVersion(paramKind.apiVersion) ?? { group: '', version: '' }
    throw new Error(`failed to find resource referenced by paramKind: '${group}/${version}, Kind=${paramKind.kind}'`)
  }

  /** Returns one set of inputs for each parameter object. */
  async #inputs(
    binding: Binding,
    paramType: ResourceType | undefined,
    attributes: AdmissionAttributes,
    address: ResourceType,
  ): Promise<readonly Bindings[]> {
    const { kinds, store, authorizer } = this.#options
    const namespace = admissionNamespace(attributes)
    const params =
      paramType && binding.paramRef
        ? await collectParams(paramType, binding.paramRef, namespace, kinds, store)
        : [undefined]
    if (params.length === 0) return []

    const converted = await this.#converted(attributes, address)
    const namespaceObject = this.#namespaceObject(attributes)
    return params.map((param) =>
      Object.assign(bindRequest(converted, address, authorizer), { namespaceObject, params: param ?? null }),
    )
  }

  async #converted(attributes: AdmissionAttributes, address: ResourceType): Promise<AdmissionAttributes> {
    if (address === attributes.type || attributes.kind) return attributes
    const convert = (one: KubeObject | undefined) => one && this.#options.kinds.convert(one, address)
    const [object, oldObject] = await Promise.all([convert(attributes.object), convert(attributes.oldObject)])
    return { ...attributes, object, oldObject }
  }

  #namespaceObject({ namespace }: AdmissionAttributes): unknown {
    if (namespace === '') return null
    const object = this.#options.store.get(`//namespaces/${namespace}`)?.object
    if (!object) throw notFound({ group: '', resource: 'namespaces' }, namespace)
    const { managedFields: _m, ownerReferences: _o, selfLink: _s, ...metadata } = object.metadata
    return { metadata, spec: object['spec'] ?? {}, status: object['status'] ?? {} }
  }

  #conclude(
    policy: Policy,
    binding: Binding,
    evaluation: Evaluation,
    attributes: AdmissionAttributes,
    annotations: Map<string, Set<string>>,
    refusals: Refusal[],
  ): void {
    const names = { policy: policy.name, binding: binding.name }
    for (const { index, message, reason } of evaluation.denials) {
      if (binding.actions.includes('Deny')) refusals.push({ ...names, message, reason })
      if (binding.actions.includes('Warn')) {
        attributes.warnings.push(
          `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${message}`,
        )
      }
      if (binding.actions.includes('Audit')) {
        const failure = { message, ...names, expressionIndex: index, validationActions: binding.actions }
        attributes.annotations?.set(FAILURE_ANNOTATION, JSON.stringify([failure]))
      }
    }
    for (const message of evaluation.annotationErrors) refusals.push({ ...names, message, reason: 'Invalid' })
    for (const { key, value } of evaluation.annotations) {
      const values = annotations.get(key) ?? new Set()
      annotations.set(key, values.add(value.slice(0, ANNOTATION_MAX)))
    }
  }

  #follow(changes: readonly Change[]): void {
    let touched = false
    for (const { key, type, now } of changes) {
      if (key.startsWith(POLICIES)) {
        if (type === 'DELETED') this.#policies.delete(key)
        else this.#putPolicy(key, now.object, changes)
      } else if (key.startsWith(BINDINGS)) {
        if (type === 'DELETED') this.#bindings.delete(key)
        else this.#bindings.set(key, bindingOf(now.object))
      } else continue
      touched = true
    }
    if (touched) this.#bind()
  }

  #putPolicy(key: string, object: KubeObject, changes: readonly Change[] = []): void {
    // Status is written after every change of the spec and needs no compilation.
    const before = changes.find((change) => change.key === key)?.before?.object
    const same = before !== undefined && before.metadata.generation === object.metadata.generation
    if (same && before.metadata.generation !== undefined && this.#policies.has(key)) return
    this.#policies.set(key, compilePolicy(object))
  }

  #bind(): void {
    const bindings = [...this.#bindings.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
    this.#bound = [...this.#policies.values()]
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map((policy) => ({ policy, bindings: bindings.filter(({ policyName }) => policyName === policy.name) }))
      .filter((bound) => bound.bindings.length > 0)
  }
}

function denial({ type, name, object }: AdmissionAttributes, refusal: Refusal): StatusError {
  const { policy, binding, reason } = refusal
  const by = binding === undefined ? `'${policy}'` : `'${policy}' with binding '${binding}'`
  const message = `ValidatingAdmissionPolicy ${by} denied request: ${refusal.message}`
  const shown = name || object?.metadata.name || object?.metadata.generateName || 'Unknown'
  const qualified = type.group === '' ? type.resource : `${type.resource}.${type.group}`
  const details = {
    name: shown,
    ...(type.group ? { group: type.group } : {}),
    kind: type.resource,
    causes: [{ message }],
  }
  return new StatusError(
    codes[reason] ?? 422,
    reason as StatusError['reason'],
    `${qualified} "${shown}" is forbidden: ${message}`,
    { details },
  )
}
