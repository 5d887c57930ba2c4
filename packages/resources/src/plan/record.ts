import { type Condition, groupResource, isObject, type KubeObject } from '@crosstie/kube'
import { type Secret, secretType } from '../connection/publish.js'
import type { Node } from '../definition/schema.js'
import type { Decision } from '../managed/decide.js'
import { lateInitManager } from '../managed/late-initialization.js'
import type { Gathered } from '../managed/observe/gather.js'
import { approvedPlan, digestOf, type Intended, needsApproval } from '../managed/policy/approval.js'
import type { Reconciliation } from '../managed/reconciliation.js'
import { referenceManager } from '../managed/references.js'
import type { Witness } from '../managed/runtime.js'
import { connectionSecretOf, GENERATED } from '../managed/secrets/secrets.js'
import type { PlannedResource, Step, SuppressedStep } from './document.js'
import { changedFields, type FieldMasking, fieldsOf, type PlannedField, plannedField } from './fields.js'
import type { ImaginedWrite } from './imagined.js'
import { holdsUnknown } from './unknown.js'

/** Records the actions of one planned reconciliation. */
export class ReconciliationRecord implements Witness {
  readonly #done: ({ readonly write: ImaginedWrite } | { readonly intended: Intended })[] = []
  #turn: Reconciliation | undefined
  #gathered: Gathered | undefined
  #digest: string | undefined
  decision: Decision | undefined
  /** The last reported condition Synced. */
  synced: Condition | undefined

  decided(gathered: Gathered, decision: Decision): void {
    this.#turn = gathered.reconciliation
    this.#gathered = gathered
    this.decision = decision
  }

  calling(reconciliation: Reconciliation, intended: Intended): void {
    this.#done.push({ intended })
    if (!holdsUnknown(intended)) this.#digest = digestOf(reconciliation, intended)
  }

  reported(reconciliation: Reconciliation, conditions: readonly Condition[]): void {
    this.#turn ??= reconciliation
    this.synced = conditions.find(({ type }) => type === 'Synced') ?? this.synced
  }

  wrote(write: ImaginedWrite): void {
    this.#done.push({ write })
  }

  /** The calls to the provider, with all their inputs. */
  get calls(): readonly Intended[] {
    return this.#done.flatMap((entry) => ('intended' in entry ? [entry.intended] : []))
  }

  get writes(): readonly ImaginedWrite[] {
    return this.#done.flatMap((entry) => ('write' in entry ? [entry.write] : []))
  }

  get approval(): Pick<PlannedResource, 'approval' | 'digest'> {
    const reconciliation = this.#turn
    const digest = this.#digest ? { digest: this.#digest } : {}
    if (!reconciliation || !needsApproval(reconciliation)) return { approval: 'NotRequired', ...digest }
    const approved = approvedPlan(reconciliation.managed)
    if (approved === '' || !this.#digest) return { approval: 'Required', ...digest }
    return { approval: approved === this.#digest ? 'Approved' : 'Stale', ...digest }
  }

  steps(managed: KubeObject): readonly Step[] {
    return this.#done.flatMap((entry) => {
      const step = 'intended' in entry ? this.#callStep(entry.intended) : this.#writeStep(managed, entry.write)
      return step ? [step] : []
    })
  }

  /** The actions that policies, ignored fields and immutable fields prevent. */
  get suppressed(): readonly SuppressedStep[] {
    if (!this.#gathered || !this.decision) return []
    const { ignored, immutable, fill } = this.#gathered
    const { suppressed, differences } = this.decision
    const fieldsFor = (action: SuppressedStep['action']) => {
      if (action === 'update') return differences.map((each) => this.#difference(each))
      return action === 'lateInitialize' ? fieldsOf(fill, this.#telling) : []
    }
    const left = (because: string, fields: typeof ignored): SuppressedStep[] =>
      fields.length > 0 && this.decision?.do === 'converge'
        ? [{ action: 'update', because, fields: fields.map((each) => this.#difference(each)) }]
        : []
    return [
      ...suppressed.map(({ action, because }) => ({ action, because, fields: fieldsFor(action) })),
      ...left('spec.ignoreChanges says to leave it alone', ignored),
      ...left('the field is immutable', immutable),
    ]
  }

  #callStep(intended: Intended): Step {
    switch (intended.call) {
      case 'Create':
        return { action: 'create', fields: this.#createFields(intended) }
      case 'Delete':
        return { action: 'delete', fields: [] }
      case 'Update': {
        const { differences = [], changed = {} } = intended
        const fields = differences.map((each) => this.#difference(each))
        return { action: 'update', fields: fields.length > 0 ? fields : fieldsOf(changed, this.#telling) }
      }
    }
  }

  #createFields({ forProvider, tags = {} }: Intended): readonly PlannedField[] {
    const kind = this.#turn?.runtime.kind
    const told = kind ? (parametersIn(kind.parameters, forProvider) as object) : forProvider
    const fields = fieldsOf(kind?.tags ? { ...told, [kind.tags.field]: tags } : told, this.#telling)
    const generated = new Set(
      (this.#turn?.runtime.sensitiveFields ?? [])
        .filter(({ path }) => valueAt(forProvider, path) === GENERATED)
        .map(({ path }) => path.join('.')),
    )
    return fields.map((each) => (generated.has(each.path) ? { ...each, generated: true } : each))
  }

  /** Returns the step of a write. Annotations and status are internal and do not appear in a plan. */
  #writeStep(managed: KubeObject, write: ImaginedWrite): Step | undefined {
    const { type, before, after, fieldManager, status } = write
    if (status) return undefined
    const action = fieldManager === referenceManager ? 'resolveReferences' : 'lateInitialize'
    if (fieldManager === referenceManager || fieldManager === lateInitManager) {
      return { action, fields: changedFields(before?.['spec'], after?.['spec'], this.#telling, ['spec']) }
    }
    if (groupResource(type) === groupResource(secretType)) return secretStep(managed, write)
    const itself = before?.metadata.uid === managed.metadata.uid && before?.kind === managed.kind
    return itself && !after ? { action: 'release', fields: [] } : undefined
  }

  #difference({ path, desired, observed }: { path: string; desired?: unknown; observed?: unknown }): PlannedField {
    // A sensitive value from a Secret differs without a comparison of values.
    const sensitive = this.#turn?.given?.has(path) === true
    return plannedField(path, observed, desired, { mask: this.#telling.mask, sensitive })
  }

  get #telling(): FieldMasking {
    const secret = new Set((this.#turn?.runtime.sensitiveFields ?? []).map(({ path }) => path.join('.')))
    return {
      isSensitive: (path) => secret.has(path.join('.')),
      mask: (value) => this.#masked(value) as typeof value,
    }
  }

  #masked(value: unknown): unknown {
    if (typeof value === 'string') return this.#turn ? this.#turn.secrets.redact(value) : value
    if (Array.isArray(value)) return value.map((item) => this.#masked(item))
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, this.#masked(inner)]))
  }
}

/** Returns the values without references and Secret references. The provider receives the resolved values. */
function parametersIn(node: Node, value: unknown): unknown {
  if (node.type !== 'object' || !isObject(value)) return value
  const fields = Object.entries(node.fields ?? {}).filter(([name]) => value[name] !== undefined)
  return Object.fromEntries(fields.map(([name, field]) => [name, parametersIn(field, value[name])]))
}

function valueAt(values: unknown, path: readonly string[]): unknown {
  let value = values
  for (const name of path) value = isObject(value) ? value[name] : undefined
  return value
}

/** Returns the step that writes a connection Secret. It lists the changed keys without their values. */
function secretStep(managed: KubeObject, { before, after }: ImaginedWrite): Step | undefined {
  const key = connectionSecretOf(managed)
  const { name, namespace } = (after ?? before)!.metadata
  if (key?.name !== name || key?.namespace !== namespace) return undefined
  const [held, now] = [(before as Secret | undefined)?.data ?? {}, (after as Secret | undefined)?.data ?? {}]
  const changed = Object.keys(now).filter((each) => held[each] !== now[each])
  const fields = changed.map((path): PlannedField => ({ path, sensitive: true }))
  return { action: 'writeConnectionSecret', fields, secret: `${namespace}/${name}` }
}
