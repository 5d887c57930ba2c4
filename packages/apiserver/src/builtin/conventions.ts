import {
  badRequest,
  type FieldError,
  fieldErrors,
  type KubeObject,
  type ObjectMeta,
  type ResourceType,
  StatusError,
  stringify,
} from '@crosstie/kube'
import type { Conventions } from '../definitions/conventions.js'
import { methodUnknown, resourceNotFound } from '../definitions/refusals.js'
import { inferTypeMeta } from '../definitions/type-meta.js'
import { representationError } from '../wire/negotiate.js'

/** Built-in kinds: the typed part of kube-apiserver. */
export const builtInConventions: Conventions = {
  acceptsProtobuf: true,
  patchMediaTypes: [
    'application/json-patch+json',
    'application/merge-patch+json',
    'application/strategic-merge-patch+json',
    'application/apply-patch+yaml',
  ],
  matchesMethodToUrl: true,
  routesWritesWithoutNamespace: true,
  unknownSubresourceError: resourceNotFound,
  methodNotAllowedError: methodUnknown,
  unsupportedPatchError: () =>
    new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', { details: {} }),
  notAcceptableError: (error, accept, streams) => representationError(error, accept, { streams }),
  unsupportedFieldSelectorError: (field, selectable) =>
    badRequest(
      selectable
        ? `field label not supported: ${field}`
        : `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`,
    ),
  goType: ({ group, kind }) => `${group.split('.')[0] || 'core'}.${kind}`,
  alwaysShowsContinue: false,
  itemsCarryType: false,
  discoveryVerbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
  discoveryNamesGroup: false,
  readTypeMeta: inferTypeMeta,
  emptyManagedFieldsReset: true,
  decodesNamedType: true,
  printPatched: stringify,
  appliedDecodeError,
  validatesBySchema: false,
  shapesOnRead: false,
  isolatesStatus: false,
  repeatsMetadataErrors: true,
  validateFinalizers,
  storedAs: 'protobuf',
  openapi: {
    inScheme: true,
    describesWatch: true,
    describesSelectableFields: false,
    describesDeleteOptions: true,
    defaultsReferences: true,
    readsAtRevision: false,
    patchCodes: [200, 201],
    bodyMedia: ['*/*'],
    shortGroup: (group) => group.replace(/\.k8s\.io$/, ''),
  },
}

function appliedDecodeError({ group, version, kind }: ResourceType, applied: KubeObject, message: string): StatusError {
  const type = `${group}/${version}, Kind=${kind}`
  const { namespace = '', name = '' } = applied.metadata
  const why = message.startsWith('illegal base64') ? `error decoding from json: ${message}` : message
  const attempt = `failed to convert new object (${namespace}/${name}; ${type}) to proper version`
  return new StatusError(500, '', `${attempt}: unable to convert unstructured object to ${type}: ${why}`)
}

const standardFinalizers = new Set(['orphan', 'foregroundDeletion', 'kubernetes'])

const groupsWithoutFinalizerRule = new Set([
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'coordination.k8s.io',
])

/** Kinds of the core group, and of the groups that share its rules, require a domain in the names of finalizers. */
function validateFinalizers(group: string, { finalizers }: ObjectMeta): FieldError[] {
  if (!finalizers || groupsWithoutFinalizerRule.has(group)) return []
  return finalizers.flatMap((name, i) =>
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
