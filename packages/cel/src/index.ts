export { type AdmissionEnvironmentOptions, admissionEnvironment } from './admission.js'
export { type CheckRulesOptions, checkRules } from './check-rules.js'
export {
  authorizerInput,
  compileExpression,
  type Evaluation,
  ExpressionEnvironment,
  type ExpressionEnvironmentOptions,
  type ExpressionProgram,
  type Inputs,
  requestResourceInput,
  type VariableType,
} from './expression.js'
export type { AuthorizationAnswer, AuthorizationChecker, AuthorizationQuestion } from './library/authorizer.js'
export { CompileError } from './program.js'
export { compileRules, type Rules, type ValidateOptions } from './rules.js'
