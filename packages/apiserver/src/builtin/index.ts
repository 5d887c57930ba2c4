import type { Definition } from '../definitions/definition.js'
import type { ExpressionCheck } from './admission-rules.js'
import { configMapKind, secretKind, serviceAccountKind } from './core.js'
import { type CrdValidation, crdKind } from './crd.js'
import { coreEventKind, eventsEventKind } from './events.js'
import { leaseKind } from './lease.js'
import { namespaceKind } from './namespace.js'
import { policyKinds } from './policies.js'
import { bindingKinds, type EscalationCheck, roleKinds } from './rbac.js'
import { type Answers, reviewKinds } from './reviews.js'
import { webhookKinds } from './webhooks.js'

export { decodeTyped, TypedDecodeError } from '../gotypes/typed.js'
export type { ExpressionCheck, ExpressionScope, ExpressionUse } from './admission-rules.js'
export type { CrdValidation } from './crd.js'
export type { EscalationCheck } from './rbac.js'
export { type Answers, tokenRequestKind } from './reviews.js'

/** Functions of other folders that built-in kinds call. */
export interface Helpers {
  readonly answers: Answers
  readonly validateCrd: CrdValidation
  readonly checkExpression: ExpressionCheck
  /** Checks that the author of a role or binding has the permissions that it grants. */
  readonly checkEscalation?: EscalationCheck
}

/** Returns the definitions of all built-in kinds. Their schemas are derived on first use. */
export function builtinDefinitions(helpers: Helpers): readonly Definition[] {
  return [
    namespaceKind(),
    secretKind(),
    configMapKind(),
    serviceAccountKind(),
    coreEventKind(),
    eventsEventKind(),
    leaseKind(),
    ...roleKinds(helpers.checkEscalation),
    ...bindingKinds(helpers.checkEscalation),
    ...reviewKinds(helpers.answers),
    crdKind(helpers.validateCrd),
    ...webhookKinds(helpers.checkExpression),
    ...policyKinds(helpers.checkExpression),
  ]
}
