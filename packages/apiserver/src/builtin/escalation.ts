import { equal, forbidden, isObject, type KubeObject, notFound } from '@crosstie/kube'
import { aggregate, type RbacAuthorizer, type RoleRef } from '../access/rbac.js'
import {
  compactRules,
  describeRule,
  type PolicyRule,
  quoted,
  rulesOf,
  TooManyRulesError,
  uncovered,
} from '../access/rules.js'
import { MASTERS } from '../access/user.js'
import type { WriteContext } from '../definitions/definition.js'

const GROUP = 'rbac.authorization.k8s.io'
const FULL_AUTHORITY: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

type Guard = (object: KubeObject, old: KubeObject | undefined, context: WriteContext) => void

/**
 * `Strategy.authorizeWrite` of roles and cluster roles: throws 403 when the role grants more than the user has,
 * unless the user may `escalate`.
 */
export function guardRole(authorizer: RbacAuthorizer): Guard {
  return (object, old, context) => {
    const { user, type } = context
    const { name = '', namespace = '' } = object.metadata
    if (user.groups.includes(MASTERS) || onlyGarbageCollection(object, old)) return
    const escalate = { user, verb: 'escalate', group: GROUP, resource: type.resource, namespace }
    if (authorizer.authorize({ ...escalate, name: old ? name : '' }).allowed) return

    const refusal = escalation(authorizer, context, namespace, rulesOf(object))
    if (refusal) throw forbidden(type, name, refusal)
    if (!aggregates(object) && !(old && aggregates(old))) return
    if (escalation(authorizer, context, namespace, FULL_AUTHORITY)) {
      throw forbidden(type, name, 'must have cluster-admin privileges to use the aggregationRule')
    }
  }
}

/**
 * `Strategy.authorizeWrite` of role bindings and cluster role bindings: throws 403 when the role grants more than
 * the user has, unless the user may `bind` it.
 */
export function guardBinding(authorizer: RbacAuthorizer): Guard {
  return (object, old, context) => {
    const { user, type } = context
    const { name = '', namespace = '' } = object.metadata
    if (user.groups.includes(MASTERS) || onlyGarbageCollection(object, old)) return
    const roleRef = object['roleRef'] as RoleRef
    const resource = roleRef.kind === 'ClusterRole' ? 'clusterroles' : 'roles'
    const bind = { user, verb: 'bind', group: roleRef.apiGroup ?? GROUP, resource, name: roleRef.name, namespace }
    if (authorizer.authorize(bind).allowed) return

    const rules = authorizer.rulesOfRole(roleRef, namespace)
    if (!rules) throw notFound(type, roleRef.name)
    const refusal = escalation(authorizer, context, namespace, rules)
    if (refusal) throw forbidden(type, name, refusal)
  }
}

/** Returns the error. Undefined when the user has all permissions that the rules grant. */
function escalation(
  authorizer: RbacAuthorizer,
  { user, type }: WriteContext,
  namespace: string,
  wanted: readonly PolicyRule[],
): string | undefined {
  const owned = authorizer.rulesFor(user, namespace)
  const missing = missingOf(owned.rules, wanted)
  if (typeof missing === 'string') return missing
  if (missing.length === 0) return undefined
  const lines = [...new Set(compactRules(missing).map(describeRule))].sort()
  // kube-apiserver looks these roles up under the resource of the request and names that resource in the message.
  const absent = owned.missing.map(({ name }) => `${type.resource}.${GROUP} "${name}" not found`)
  const unresolved = absent.length === 0 ? '' : `; resolution errors: [${aggregate(absent)}]`
  return `user ${JSON.stringify(user.name)} (groups=${quoted(user.groups)}) is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}${unresolved}`
}

/** The rules that the user does not hold, or the reason why they cannot be compared. */
function missingOf(owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] | string {
  try {
    return uncovered(owned, wanted)
  } catch (error) {
    if (error instanceof TooManyRulesError) return error.message
    throw error
  }
}

function aggregates(role: KubeObject): boolean {
  const rule = role['aggregationRule']
  if (!isObject(rule)) return false
  const selectors = rule['clusterRoleSelectors']
  return Array.isArray(selectors) && selectors.length > 0
}

/**
 * Whether only owner references or finalizers changed. The garbage collector must be able to delete roles whose
 * permissions it does not have.
 */
function onlyGarbageCollection(object: KubeObject, old: KubeObject | undefined): boolean {
  return old !== undefined && equal(withoutGarbageFields(object), withoutGarbageFields(old))
}

function withoutGarbageFields(object: KubeObject): unknown {
  const {
    ownerReferences: _o,
    finalizers: _f,
    managedFields: _m,
    resourceVersion: _r,
    selfLink: _s,
    ...metadata
  } = object.metadata
  return { ...object, metadata }
}
