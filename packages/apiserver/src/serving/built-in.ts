import type { Authenticator } from '../access/authenticate.js'
import type { RbacAuthorizer } from '../access/rbac.js'
import {
  answerLocalSubjectAccessReview,
  answerSelfSubjectAccessReview,
  answerSelfSubjectReview,
  answerSelfSubjectRulesReview,
  answerSubjectAccessReview,
  answerTokenReview,
} from '../builtin/access-reviews.js'
import { guardBinding, guardRole } from '../builtin/escalation.js'
import { builtinDefinitions, type CrdValidation, type ExpressionCheck } from '../builtin/index.js'
import type { Definition } from '../definitions/definition.js'

/** Returns the built-in kinds, connected with authentication, RBAC and validation. */
export function builtIn(
  authorizer: RbacAuthorizer,
  authenticator: Authenticator,
  validateCrd: CrdValidation,
  checkExpression: ExpressionCheck,
): readonly Definition[] {
  const role = guardRole(authorizer)
  const binding = guardBinding(authorizer)
  return builtinDefinitions({
    answers: {
      tokenReview: answerTokenReview(authenticator),
      selfSubjectReview: answerSelfSubjectReview,
      subjectAccessReview: answerSubjectAccessReview(authorizer),
      localSubjectAccessReview: answerLocalSubjectAccessReview(authorizer),
      selfSubjectAccessReview: answerSelfSubjectAccessReview(authorizer),
      selfSubjectRulesReview: answerSelfSubjectRulesReview(authorizer),
    },
    validateCrd,
    checkExpression,
    checkEscalation: (object, old, context) => ('roleRef' in object ? binding : role)(object, old, context),
  })
}
