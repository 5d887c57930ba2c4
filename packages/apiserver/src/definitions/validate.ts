import { X509Certificate } from 'node:crypto'
import { equal, type FieldError, type KubeObject } from '@crosstie/kube'
import { checkRules, compileRules } from '@crosstie/kube/cel'
import {
  type CustomResourceDefinition,
  type DefinitionChecks,
  definitionWarnings,
  validateCustomResourceDefinition,
  validateDefinitionStatusUpdate,
} from '@crosstie/kube/schema'
import type { WriteContext } from './definition.js'

const checks: DefinitionChecks = {
  checkRules: (schema, path, { oldSchema }) =>
    checkRules(schema, path, oldSchema && { oldSchemas: [oldSchema], unchanged: equal(schema, oldSchema) }),
  checkDefault: (schema, value, path) => compileRules(schema)?.validate(value, undefined, { path }) ?? [],
  caBundleError,
}

/** Everything that may be wrong with a CRD, its schemas and their rules included. */
export function validateCrd(
  object: KubeObject,
  old: KubeObject | undefined,
  { subresource, warnings }: WriteContext,
): readonly FieldError[] {
  const crd = object as unknown as CustomResourceDefinition
  const before = old as unknown as CustomResourceDefinition | undefined
  if (before && subresource === 'status') return validateDefinitionStatusUpdate(crd, before)
  warnings.push(...definitionWarnings(crd, before))
  return validateCustomResourceDefinition(crd, before, checks)
}

function caBundleError(caBundle: string): string | undefined {
  try {
    new X509Certificate(Buffer.from(caBundle, 'base64'))
    return undefined
  } catch {
    return 'unable to load root certificates: unable to parse bytes as PEM block'
  }
}
