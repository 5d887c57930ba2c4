import { declare, type FunctionDeclaration, member } from '../functions.js'
import { isDNS1123Label, isDNS1123Subdomain } from '../kubernetes/names.js'
import { structType, types } from '../types.js'
import { CelObject, fail, noSuchOverload, type Value } from '../values.js'

const { bool, string } = types

/** The types of the authorizer library. Environments declare their variables with them. */
export const authorizerTypes = {
  authorizer: structType('kubernetes.authorization.Authorizer'),
  pathCheck: structType('kubernetes.authorization.PathCheck'),
  groupCheck: structType('kubernetes.authorization.GroupCheck'),
  resourceCheck: structType('kubernetes.authorization.ResourceCheck'),
  decision: structType('kubernetes.authorization.Decision'),
}

/** An authorization check that an expression asks for. */
export interface AuthorizationQuestion {
  readonly verb: string
  /** The service account, if the check is about another user than that of the request. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string }
  /** The path, if the check is about a path and not about a resource. */
  readonly path?: string
  readonly group?: string
  readonly resource?: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
  readonly fieldSelector?: string
  readonly labelSelector?: string
}

/** The decision about an authorization check. */
export interface AuthorizationAnswer {
  readonly allowed: boolean
  readonly reason?: string
  readonly error?: string
}

/** Decides an authorization check. */
export type AuthorizationChecker = (question: AuthorizationQuestion) => AuthorizationAnswer

abstract class Receiver extends CelObject {
  equals(other: Value): boolean {
    return other === this || noSuchOverload()
  }
}

/** The value of the variable `authorizer`. */
export class CelAuthorizer extends Receiver {
  readonly type = authorizerTypes.authorizer
  constructor(
    readonly check: AuthorizationChecker,
    readonly serviceAccount?: { readonly namespace: string; readonly name: string },
  ) {
    super()
  }
}

class PathCheck extends Receiver {
  readonly type = authorizerTypes.pathCheck
  constructor(
    readonly authorizer: CelAuthorizer,
    readonly path: string,
  ) {
    super()
  }
}

class GroupCheck extends Receiver {
  readonly type = authorizerTypes.groupCheck
  constructor(
    readonly authorizer: CelAuthorizer,
    readonly group: string,
  ) {
    super()
  }
}

type Narrowing = Pick<AuthorizationQuestion, 'subresource' | 'namespace' | 'name' | 'fieldSelector' | 'labelSelector'>

/** An authorization check for a resource, as the methods of the authorizer build it. */
export class ResourceCheck extends Receiver {
  readonly type = authorizerTypes.resourceCheck
  constructor(
    readonly authorizer: CelAuthorizer,
    readonly group: string,
    readonly resource: string,
    readonly narrowing: Narrowing = {},
  ) {
    super()
  }
  with(part: Narrowing): ResourceCheck {
    return new ResourceCheck(this.authorizer, this.group, this.resource, { ...this.narrowing, ...part })
  }
}

class Decision extends Receiver {
  readonly type = authorizerTypes.decision
  constructor(readonly answer: AuthorizationAnswer) {
    super()
  }
}

function ask(authorizer: CelAuthorizer, question: AuthorizationQuestion): Decision {
  const { serviceAccount } = authorizer
  return new Decision(authorizer.check(serviceAccount ? { ...question, serviceAccount } : question))
}

const { authorizer, pathCheck, groupCheck, resourceCheck, decision } = authorizerTypes

const narrow = (name: keyof Narrowing, id: string) =>
  declare(name, [
    member(id, [resourceCheck, string], resourceCheck, (check: ResourceCheck, text: string) => {
      return check.with({ [name]: text })
    }),
  ])

/** Authorization checks. The checker that the authorizer was created with decides them. */
export const authorizerLibrary: readonly FunctionDeclaration[] = [
  declare('path', [
    member('authorizer_path', [authorizer, string], pathCheck, (who: CelAuthorizer, path: string) => {
      return path.trim() === '' ? fail('path must not be empty') : new PathCheck(who, path)
    }),
  ]),
  declare('group', [
    member('authorizer_group', [authorizer, string], groupCheck, (who: CelAuthorizer, group: string) => {
      return new GroupCheck(who, group)
    }),
  ]),
  declare('serviceAccount', [
    member(
      'authorizer_serviceaccount',
      [authorizer, string, string],
      authorizer,
      (who: CelAuthorizer, namespace: string, name: string) => {
        if (isDNS1123Subdomain(name).length > 0) fail('Invalid service account name')
        if (isDNS1123Label(namespace).length > 0) fail('Invalid service account namespace')
        return new CelAuthorizer(who.check, { namespace, name })
      },
    ),
  ]),
  declare('resource', [
    member('groupcheck_resource', [groupCheck, string], resourceCheck, (check: GroupCheck, resource: string) => {
      if (resource.trim() === '') fail('resource must not be empty')
      return new ResourceCheck(check.authorizer, check.group, resource)
    }),
  ]),
  narrow('subresource', 'resourcecheck_subresource'),
  narrow('namespace', 'resourcecheck_namespace'),
  narrow('name', 'resourcecheck_name'),
  narrow('fieldSelector', 'authorizer_fieldselector'),
  narrow('labelSelector', 'authorizer_labelselector'),
  declare('check', [
    member('pathcheck_check', [pathCheck, string], decision, (check: PathCheck, verb: string) => {
      return ask(check.authorizer, { verb, path: check.path })
    }),
    member('resourcecheck_check', [resourceCheck, string], decision, (check: ResourceCheck, verb: string) => {
      return ask(check.authorizer, { verb, group: check.group, resource: check.resource, ...check.narrowing })
    }),
  ]),
  declare('errored', [
    member('decision_errored', [decision], bool, ({ answer }: Decision) => answer.error !== undefined),
  ]),
  declare('error', [member('decision_error', [decision], string, ({ answer }: Decision) => answer.error ?? '')]),
  declare('allowed', [member('decision_allowed', [decision], bool, ({ answer }: Decision) => answer.allowed)]),
  declare('reason', [member('decision_reason', [decision], string, ({ answer }: Decision) => answer.reason ?? '')]),
]
