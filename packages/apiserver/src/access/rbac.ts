import { append, isObject, type KubeObject } from '@crosstie/kube'
import type { Change, Store } from '../store/store.js'
import type { Attributes, Authorizer, Decision } from './authorize.js'
import { type PolicyRule, ruleAllows, rulesOf } from './rules.js'
import { MASTERS, serviceAccountUser, type UserInfo } from './user.js'

const PREFIX = '/rbac.authorization.k8s.io/'
/** The number of decisions cached for one user. */
const DECISIONS_MAX = 256

/** A reference to a role in a binding. */
export interface RoleRef {
  readonly apiGroup?: string
  readonly kind: string
  readonly name: string
}

interface Subject {
  readonly kind: string
  readonly name: string
  readonly namespace?: string
}

interface Binding {
  readonly name: string
  /** Empty for a ClusterRoleBinding. */
  readonly namespace: string
  readonly roleRef: RoleRef
  readonly subjects: readonly Subject[]
}

/** The rules that apply to a user, and the roles of bindings that do not exist. */
export interface Resolved {
  readonly rules: readonly PolicyRule[]
  readonly missing: readonly RoleRef[]
}

const ALLOWED: Decision = { allowed: true, reason: '' }

interface Remembered {
  readonly generation: number
  readonly decisions: Map<string, Decision>
}

/**
 * Role-based access control by the roles and bindings in the store. Durable changes take effect at once. Decisions
 * are cached per user until a role or binding changes.
 */
export class RbacAuthorizer implements Authorizer {
  readonly #roles = new Map<string, readonly PolicyRule[]>()
  /** Bindings by subject (`User alice`, `Group devs`) and namespace ('' for cluster bindings). */
  readonly #bindings = new Map<string, Map<string, Set<Binding>>>()
  readonly #remembered = new WeakMap<UserInfo, Remembered>()
  readonly #stop: () => void
  #generation = 0

  constructor(store: Pick<Store, 'list' | 'subscribe'>) {
    this.#stop = store.subscribe((changes) => this.#follow(changes))
    for (const { key, object } of store.list(PREFIX).items) this.#put(key, object)
  }

  close(): void {
    this.#stop()
  }

  authorize(attributes: Attributes): Decision {
    const { user } = attributes
    if (user.groups.includes(MASTERS)) return ALLOWED

    let remembered = this.#remembered.get(user)
    if (remembered?.generation !== this.#generation) {
      remembered = { generation: this.#generation, decisions: new Map() }
      this.#remembered.set(user, remembered)
    }
    // A permission for all names includes this one. This is the common case, and one cached decision serves all
    // names.
    const anyName = this.#remember(remembered, questionOf(attributes), { ...attributes, name: '' })
    if (anyName.allowed || !attributes.name) return anyName
    return this.#remember(remembered, `${questionOf(attributes)}\n${attributes.name}`, attributes)
  }

  /** Returns the rules of the user in the namespace, or cluster-wide for ''. */
  rulesFor(user: UserInfo, namespace: string): Resolved {
    const rules: PolicyRule[] = []
    const missing: RoleRef[] = []
    for (const binding of this.#bindingsOf(user, namespace)) {
      const role = this.#roles.get(roleKey(binding))
      if (role) append(rules, role)
      else missing.push(binding.roleRef)
    }
    return { rules, missing }
  }

  /** Returns the rules of a role that a binding in the namespace refers to. '' stands for a cluster binding. */
  rulesOfRole(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    return this.#roles.get(roleKey({ roleRef, namespace }))
  }

  #remember({ decisions }: Remembered, question: string, attributes: Attributes): Decision {
    const known = decisions.get(question)
    if (known) return known
    const decision = this.#decide(attributes)
    if (decisions.size >= DECISIONS_MAX) decisions.clear()
    decisions.set(question, decision)
    return decision
  }

  #decide(attributes: Attributes): Decision {
    const errors: string[] = []
    for (const binding of this.#bindingsOf(attributes.user, attributes.namespace ?? '')) {
      const rules = this.#roles.get(roleKey(binding))
      if (!rules) errors.push(missingRole(binding.roleRef))
      else if (rules.some((rule) => ruleAllows(rule, attributes))) {
        return { allowed: true, reason: `RBAC: allowed by ${describeBinding(binding, attributes.user)}` }
      }
    }
    return { allowed: false, reason: errors.length === 0 ? '' : `RBAC: ${aggregate(errors)}` }
  }

  *#bindingsOf(user: UserInfo, namespace: string): Generator<Binding> {
    const scopes = namespace === '' ? [''] : ['', namespace]
    for (const scope of scopes) {
      const bySubject = this.#bindings.get(scope)
      if (!bySubject) continue
      const seen = new Set<Binding>()
      for (const subject of subjectKeys(user)) {
        for (const binding of bySubject.get(subject) ?? []) {
          if (seen.has(binding)) continue
          seen.add(binding)
          yield binding
        }
      }
    }
  }

  #follow(changes: readonly Change[]): void {
    for (const { key, type, now, before } of changes) {
      if (!key.startsWith(PREFIX)) continue
      if (before) this.#remove(key, before.object)
      if (type !== 'DELETED') this.#put(key, now.object)
      this.#generation++
    }
  }

  #put(key: string, object: KubeObject): void {
    const kept = key.slice(PREFIX.length)
    if (isRole(kept)) {
      this.#roles.set(kept, rulesOf(object))
      return
    }
    const binding = bindingOf(object)
    for (const subject of subjectsOf(binding)) {
      const bySubject = this.#bindings.get(binding.namespace) ?? new Map<string, Set<Binding>>()
      this.#bindings.set(binding.namespace, bySubject)
      const set = bySubject.get(subject) ?? new Set()
      bySubject.set(subject, set)
      set.add(binding)
    }
  }

  #remove(key: string, object: KubeObject): void {
    const kept = key.slice(PREFIX.length)
    if (isRole(kept)) {
      this.#roles.delete(kept)
      return
    }
    const { name, namespace } = bindingOf(object)
    const bySubject = this.#bindings.get(namespace)
    if (!bySubject) return
    for (const subject of subjectsOf(bindingOf(object))) {
      const set = bySubject.get(subject)
      for (const binding of set ?? []) if (binding.name === name) set!.delete(binding)
      if (set?.size === 0) bySubject.delete(subject)
    }
    if (bySubject.size === 0) this.#bindings.delete(namespace)
  }
}

const isRole = (key: string): boolean => key.startsWith('clusterroles/') || key.startsWith('roles/')

function questionOf({ verb, group, resource, subresource, namespace, path }: Attributes): string {
  if (path !== undefined) return `${verb} ${path}`
  return `${verb}\n${group}\n${resource}\n${subresource ?? ''}\n${namespace ?? ''}`
}

function bindingOf(object: KubeObject): Binding {
  const subjects = Array.isArray(object['subjects']) ? object['subjects'].filter(isObject) : []
  const { name = '', namespace = '' } = object.metadata
  return { name, namespace, roleRef: object['roleRef'] as RoleRef, subjects: subjects as unknown as Subject[] }
}

/** Returns the keys under which bindings of a user are indexed. */
function subjectKeys({ name, groups }: UserInfo): string[] {
  return [`User ${name}`, ...groups.map((group) => `Group ${group}`)]
}

/** Service accounts are indexed by user name, so that one lookup finds both. */
function subjectsOf({ subjects, namespace }: Binding): string[] {
  return subjects.flatMap((subject) => {
    if (subject.kind === 'User' || subject.kind === 'Group') return [`${subject.kind} ${subject.name}`]
    const home = subject.namespace || namespace
    return subject.kind === 'ServiceAccount' && home !== '' ? [`User ${serviceAccountUser(home, subject.name)}`] : []
  })
}

function roleKey({ roleRef, namespace }: Pick<Binding, 'roleRef' | 'namespace'>): string {
  return roleRef.kind === 'ClusterRole' ? `clusterroles/${roleRef.name}` : `roles/${namespace}/${roleRef.name}`
}

/** Returns the error of a lister for a missing role. */
export function missingRole({ kind, name }: RoleRef): string {
  return `${kind.toLowerCase()}.rbac.authorization.k8s.io "${name}" not found`
}

/** Joins errors as Kubernetes prints them. */
export function aggregate(errors: readonly string[]): string {
  const distinct = [...new Set(errors)]
  return distinct.length === 1 ? distinct[0]! : `[${distinct.join(', ')}]`
}

function describeBinding(binding: Binding, user: UserInfo): string {
  const keys = subjectKeys(user)
  const names = (one: Subject) => subjectsOf({ ...binding, subjects: [one] }).some((key) => keys.includes(key))
  const subject = binding.subjects.find(names)!
  const who =
    subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace || binding.namespace}` : subject.name
  const kind = binding.namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding'
  const name = binding.namespace === '' ? binding.name : `${binding.name}/${binding.namespace}`
  const { roleRef } = binding
  return `${kind} ${JSON.stringify(name)} of ${roleRef.kind} ${JSON.stringify(roleRef.name)} to ${subject.kind} ${JSON.stringify(who)}`
}
