export { type CheckRulesOptions, checkRules } from './check-rules.js'
export { compileRules, type Rules, type ValidateOptions } from './rules.js'
