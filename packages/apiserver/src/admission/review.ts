import type { KubeObject } from '@crosstie/kube'
import { complete } from '../decode/decode.js'
import type { AdmissionAttributes, Engine } from '../serving/engine.js'
import type { WriteRequest } from '../serving/request.js'

/** The admission of one request. */
export interface Review {
  mutate(object: KubeObject, old: KubeObject | undefined): Promise<KubeObject>
  validate(object: KubeObject | undefined, old: KubeObject | undefined): Promise<void>
  /** Calls webhooks and policies for a deletion. They cannot change the object. */
  remove(old: KubeObject, name: string): Promise<void>
}

/** How admission reviews a request whose objects have another kind than the resource. */
export interface AdmissionView {
  readonly kind: NonNullable<AdmissionAttributes['kind']>
  /** Decodes the object that a webhook returned. */
  complete(mutated: KubeObject): KubeObject
}

/** Returns the webhooks and policies for this request. Undefined when none is interested in the kind. */
export function admissionOf(
  engine: Engine,
  request: WriteRequest,
  operation: AdmissionAttributes['operation'],
  options: Readonly<Record<string, unknown>> = writeOptions(operation, request),
  view?: AdmissionView,
): Review | undefined {
  const { served, subresource, name, namespace, dryRun, user, warnings, annotations } = request
  const { admission } = engine
  if (!admission.interested(served.type)) return undefined
  const basis = { operation, type: served.type, subresource, namespace, options, dryRun, user, warnings, annotations }
  const about = view ? { ...basis, kind: view.kind } : basis
  const nameOf = (object: KubeObject | undefined) => object?.metadata.name ?? name
  return {
    async mutate(object, old) {
      const mutated = await admission.mutate(
        { ...about, name: nameOf(object), object, oldObject: old },
        request.signal?.(),
      )
      if (!mutated || mutated === object) return object
      return view ? view.complete(mutated) : complete({ ...request, fieldValidation: 'Ignore' }, mutated)
    },
    async remove(old, name) {
      const attributes = { ...about, name, object: undefined, oldObject: old }
      await admission.mutate(attributes, request.signal?.())
      await admission.validate(attributes, request.signal?.())
    },
    async validate(object, old) {
      await admission.validate({ ...about, name: nameOf(object ?? old), object, oldObject: old }, request.signal?.())
    },
  }
}

function writeOptions(operation: string, request: WriteRequest): Record<string, unknown> {
  const { dryRun, fieldManager, fieldManagerNamed } = request
  const kind = operation === 'CREATE' ? 'CreateOptions' : 'UpdateOptions'
  return {
    kind,
    apiVersion: 'meta.k8s.io/v1',
    ...(fieldManagerNamed ? { fieldManager } : {}),
    ...(dryRun ? { dryRun: ['All'] } : {}),
  }
}
