import {
  type FieldError,
  fieldErrors,
  invalid,
  type KubeObject,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '@crosstie/kube'
import { checkTypeMeta } from '../decode/decode.js'
import type { WriteContext } from '../definitions/definition.js'
import type { WriteRequest } from '../serving/request.js'

/** Validation on write. Throws 422 with everything that is wrong with the object. */
export function checkValid(
  request: WriteRequest,
  object: KubeObject,
  old: KubeObject | undefined,
  context: WriteContext,
): void {
  if (request.served.definition.strategy.validatesBySchema) checkTypeMeta(request.served, object)
  const errors = [...metadataErrors(request, object, old), ...bodyErrors(request, object, old, context)]
  if (errors.length === 0) return
  const { definition, type } = request.served
  const group = definition.sharedWith?.group ?? type.group
  throw invalid({ group, kind: type.kind }, object.metadata.name ?? '', errors)
}

function metadataErrors({ served }: WriteRequest, object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const { group, namespaced, strategy } = served.definition
  const plain = () => [
    ...validateObjectMeta(object.metadata, { namespaced, nameRule: strategy.nameRule, path: 'metadata' }),
    ...(strategy.validateFinalizers?.(group, object.metadata) ?? []),
  ]
  if (!old) return plain()
  // kube-apiserver validates metadata generically and again for the kind, and lists the errors of both.
  const update = validateObjectMetaUpdate(object.metadata, old.metadata, 'metadata')
  const alone = plain()
  return [...alone, ...update, ...update, ...(strategy.repeatsMetadataErrors ? alone : [])]
}

function bodyErrors(
  request: WriteRequest,
  object: KubeObject,
  old: KubeObject | undefined,
  context: WriteContext,
): readonly FieldError[] {
  const { served } = request
  const { strategy } = served.definition
  const particular = strategy.validate?.(object, old, context) ?? []
  if (!strategy.validatesBySchema || !served.version.schema) return particular
  const { schema, rules } = served
  const shape = [...shapeErrors(request, object, old), ...particular, ...schema.validateListTypes(object, old)]
  if (!rules) return shape
  // Rules read fields by their types, so they run only on objects with a valid shape.
  if (!shape.some(blocksRules)) return [...shape, ...rules.validate(object, old)]
  return [...shape, fieldErrors.invalid('<nil>', null, UNCHECKED)]
}

const UNCHECKED =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'

function shapeErrors(
  { served, subresource }: WriteRequest,
  object: KubeObject,
  old: KubeObject | undefined,
): FieldError[] {
  if (subresource !== 'status') return served.schema.validate(object, old)
  return object['status'] === undefined ? [] : served.statusSchema.validate(object['status'], old?.['status'], 'status')
}

// kube-apiserver skips rules when a field is missing, has the wrong type, is too long or has too many entries. Such
// fields could make a rule fail, or make it expensive, for the wrong reason.
function blocksRules({ type }: FieldError): boolean {
  return (
    type === 'Required' || type === 'TypeInvalid' || type === 'TooLong' || type === 'TooMany' || type === 'NotSupported'
  )
}
