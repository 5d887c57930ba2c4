import { checkRules, compileRules } from '@crosstie/cel'
import type { FieldError, KubeObject } from '@crosstie/kube'
import {
  type DefinitionChecks,
  definitionWarnings,
  type JSONSchemaProps,
  validateCustomResourceDefinition,
  validateDefinitionStatusUpdate,
} from '@crosstie/kube/schema'
import { caBundleError } from './cabundle.js'
import type { CustomResourceDefinition } from './crd.js'
import type { WriteContext } from './definition.js'

/** The write path validates metadata for all kinds. */
const checks: DefinitionChecks = { checkRules, checkDefault, caBundleError, metadata: false }

/** Validates a CRD. Returns all errors. */
export function validateCrd(
  object: KubeObject,
  before: KubeObject | undefined,
  { subresource, warnings }: WriteContext,
): readonly FieldError[] {
  const crd = object as CustomResourceDefinition
  const old = before as CustomResourceDefinition | undefined
  if (old && subresource === 'status') return validateDefinitionStatusUpdate(crd, old, { metadata: false })
  const errors = validateCustomResourceDefinition(crd, old, checks)
  for (const warning of errors.length > 0 ? [] : definitionWarnings(crd, old)) {
    if (!warnings.includes(warning)) warnings.push(warning)
  }
  return errors
}

/** A default must satisfy the rules of its own schema, as a new value and as an unchanged one. */
function checkDefault(schema: JSONSchemaProps, value: unknown, path: string): readonly FieldError[] {
  const rules = compileRules(schema, { isRoot: schema['x-kubernetes-embedded-resource'] === true })
  if (!rules) return []
  const errors = rules.validate(value, value, { path })
  return errors.length > 0 ? errors : rules.validate(value, undefined, { path })
}
