import { type FieldError, invalid, type KubeObject, validateObjectMeta, validateObjectMetaUpdate } from '@crosstie/kube'
import type { WriteContext } from '../definitions/definition.js'
import type { WriteRequest } from './request.js'

/** Throws 422 with everything that is wrong with the object. */
export function checkValid(
  request: WriteRequest,
  object: KubeObject,
  old: KubeObject | undefined,
  context: WriteContext,
): void {
  const errors = [...metadataErrors(request, object, old), ...bodyErrors(request, object, old, context)]
  if (errors.length === 0) return
  const { group, kind } = request.served.type
  throw invalid({ group, kind }, object.metadata.name ?? '', errors)
}

function metadataErrors({ served }: WriteRequest, object: KubeObject, old: KubeObject | undefined): FieldError[] {
  if (old) return validateObjectMetaUpdate(object.metadata, old.metadata, 'metadata')
  const { namespaced, strategy } = served.definition
  return validateObjectMeta(object.metadata, { namespaced, nameRule: strategy.nameRule, path: 'metadata' })
}

function bodyErrors(
  { served }: WriteRequest,
  object: KubeObject,
  old: KubeObject | undefined,
  context: WriteContext,
): readonly FieldError[] {
  const particular = served.definition.strategy.validate?.(object, old, context) ?? []
  if (!served.definition.crd || !served.version.schema) return particular
  const { schema, rules } = served
  const shape = [...particular, ...schema.validate(object, old), ...schema.validateListTypes(object, old)]
  // Rules read fields by their types: they run only on an object whose shape holds.
  if (rules && !shape.some(blocksRules)) shape.push(...rules.validate(object, old))
  return shape
}

// The real server skips rules when a field is missing, of the wrong type, too
// long or too many: those could make a rule fail, or cost, for a wrong reason.
function blocksRules({ type }: FieldError): boolean {
  return (
    type === 'Required' || type === 'TypeInvalid' || type === 'TooLong' || type === 'TooMany' || type === 'NotSupported'
  )
}
