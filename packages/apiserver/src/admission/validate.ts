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

/** Throws 422 with everything that is wrong with the object. */
export function checkValid(
  request: WriteRequest,
  object: KubeObject,
  old: KubeObject | undefined,
  context: WriteContext,
): void {
  if (request.served.definition.crd) checkTypeMeta(request.served, object)
  const errors = [...metadataErrors(request, object, old), ...bodyErrors(request, object, old, context)]
  if (errors.length === 0) return
  const { definition, type } = request.served
  const group = definition.sharedWith?.group ?? type.group
  throw invalid({ group, kind: type.kind }, object.metadata.name ?? '', errors)
}

function metadataErrors({ served }: WriteRequest, object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const { namespaced, strategy, crd } = served.definition
  const plain = () => [
    ...validateObjectMeta(object.metadata, { namespaced, nameRule: strategy.nameRule, path: 'metadata' }),
    ...(crd ? [] : finalizerErrors(served, object)),
  ]
  if (!old) return plain()
  // The real server looks at metadata once for all kinds and once for this one, and lists what it finds each time.
  const update = validateObjectMetaUpdate(object.metadata, old.metadata, 'metadata')
  const alone = plain()
  return crd ? [...alone, ...update, ...update] : [...alone, ...update, ...update, ...alone]
}

const standardFinalizers = new Set(['orphan', 'foregroundDeletion', 'kubernetes'])

const groupsWithoutFinalizerRule = new Set([
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'coordination.k8s.io',
])

/** Kinds of the core group, and of those that borrow its rules, take no finalizer without a domain. */
function finalizerErrors({ type }: WriteRequest['served'], { metadata }: KubeObject): FieldError[] {
  if (!metadata.finalizers || groupsWithoutFinalizerRule.has(type.group)) return []
  return metadata.finalizers.flatMap((name, i) =>
    name.includes('/') || standardFinalizers.has(name)
      ? []
      : [
          fieldErrors.invalid(
            `metadata.finalizers[${i}]`,
            name,
            'name is neither a standard finalizer name nor is it fully qualified',
          ),
        ],
  )
}

function bodyErrors(
  request: WriteRequest,
  object: KubeObject,
  old: KubeObject | undefined,
  context: WriteContext,
): readonly FieldError[] {
  const { served } = request
  const particular = served.definition.strategy.validate?.(object, old, context) ?? []
  if (!served.definition.crd || !served.version.schema) return particular
  const { schema, rules } = served
  const shape = [...shapeErrors(request, object, old), ...particular, ...schema.validateListTypes(object, old)]
  if (!rules) return shape
  // Rules read fields by their types: they run only on an object whose shape holds.
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

// The real server skips rules when a field is missing, of the wrong type, too
// long or too many: those could make a rule fail, or cost, for a wrong reason.
function blocksRules({ type }: FieldError): boolean {
  return (
    type === 'Required' || type === 'TypeInvalid' || type === 'TooLong' || type === 'TooMany' || type === 'NotSupported'
  )
}
