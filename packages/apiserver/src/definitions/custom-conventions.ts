import {
  badRequest,
  finalizerWarnings,
  type KubeObject,
  notFound,
  printJson,
  type ResourceType,
  StatusError,
} from '@crosstie/kube'
import { unsupportedMediaType } from '../wire/negotiate.js'
import type { Conventions } from './conventions.js'
import { requireTypeMeta } from './type-meta.js'

const patchMediaTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/apply-patch+yaml',
] as const

/** Custom resources: apiextensions-apiserver inside kube-apiserver. */
export const customConventions: Conventions = {
  acceptsProtobuf: false,
  patchMediaTypes,
  matchesMethodToUrl: false,
  routesWritesWithoutNamespace: false,
  unknownSubresourceError: notFound,
  methodNotAllowedError({ group, resource: kind }: ResourceType, verb: string): StatusError {
    const message = `${verb} is not supported on resources of kind "${kind}.${group}"`
    return new StatusError(405, 'MethodNotAllowed', message, { details: { group, kind } })
  },
  unsupportedPatchError: () => unsupportedMediaType(patchMediaTypes),
  notAcceptableError: (error) => error,
  unsupportedFieldSelectorError: (field) => badRequest(`field label not supported: ${field}`),
  goType: () => 'unstructured.Unstructured',
  alwaysShowsContinue: true,
  itemsCarryType: true,
  discoveryVerbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
  discoveryNamesGroup: true,
  readTypeMeta: requireTypeMeta,
  emptyManagedFieldsReset: false,
  decodesNamedType: false,
  /** Custom resources have no Go type that orders their fields. Patches do not apply to managedFields. */
  printPatched(patched: KubeObject): string {
    const { managedFields: _, ...metadata } = patched.metadata ?? {}
    return printJson({ ...patched, metadata })
  },
  validatesBySchema: true,
  shapesOnRead: true,
  isolatesStatus: true,
  repeatsMetadataErrors: false,
  metadataWarnings: finalizerWarnings,
  storedAs: 'json',
  openapi: {
    inScheme: false,
    describesWatch: false,
    describesSelectableFields: true,
    describesDeleteOptions: false,
    defaultsReferences: false,
    readsAtRevision: true,
    patchCodes: [200],
    bodyMedia: ['application/json', 'application/yaml'],
    shortGroup: (group) => group,
  },
}
