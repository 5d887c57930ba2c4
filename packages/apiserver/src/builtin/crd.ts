import { equal, type FieldError, isObject, type KubeObject } from '@crosstie/kube'
import type { Definition, WriteContext } from '../definitions/definition.js'
import { beginDefinitionDelete } from '../definitions/terminate.js'
import { createdAtColumn, nameColumn } from './columns.js'
import { type Draft, defineKind } from './kind.js'

/** Returns the errors of a CRD and adds warnings to the context. `old` is undefined for a new CRD. */
export type CrdValidation = (
  crd: KubeObject,
  old: KubeObject | undefined,
  context: WriteContext,
) => readonly FieldError[]

interface CrdVersion {
  readonly name: string
  readonly storage: boolean
}

/** CustomResourceDefinition. The caller passes the validation of schemas. */
export function crdKind(validate: CrdValidation): Definition {
  return defineKind({
    group: 'apiextensions.k8s.io',
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    model: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition',
    namespaced: false,
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    subresources: { status: true },
    columns: [nameColumn, createdAtColumn],
    defaults,
    keepsEmpty: true,
    strategy: {
      generation: 'onChange',
      unconditionalUpdate: false,
      createOnUpdate: false,
      nameRule: 'dnsSubdomain',
      storedAs: 'json',
      resets: { '': [['status']], status: [['metadata'], ['spec']] },
      prepare,
      validate,
      beginDelete: beginDefinitionDelete,
    },
  })
}

function defaults(crd: Draft): void {
  const spec = crd['spec'] as Draft
  const names = spec['names'] as Draft
  const kind = names['kind'] as string
  const singular = (names['singular'] as string | undefined) ?? kind.toLowerCase()
  const listKind = (names['listKind'] as string | undefined) ?? (kind === '' ? undefined : `${kind}List`)
  const { plural, shortNames, categories } = names
  spec['names'] = {
    plural,
    ...(singular === '' ? {} : { singular }),
    ...(shortNames ? { shortNames } : {}),
    kind,
    ...(listKind ? { listKind } : {}),
    ...(categories ? { categories } : {}),
  }
  spec['conversion'] = conversionWithPort(spec['conversion'] as Draft | undefined)
  const status = crd['status'] as Draft
  const stored = storageVersion(spec)
  if (!(status['storedVersions'] as readonly string[] | null)?.length && stored) status['storedVersions'] = [stored]
}

function conversionWithPort(conversion: Draft | undefined): Draft {
  if (!conversion) return { strategy: 'None' }
  const { webhook } = conversion
  const client = isObject(webhook) ? webhook['clientConfig'] : undefined
  if (!isObject(client) || !isObject(client['service']) || client['service']['port'] !== undefined) return conversion
  const clientConfig = { ...client, service: { ...client['service'], port: 443 } }
  return { ...conversion, webhook: { ...(webhook as Draft), clientConfig } }
}

function storageVersion(spec: unknown): string | undefined {
  const versions = ((spec as Draft)['versions'] ?? []) as readonly CrdVersion[]
  return versions.find(({ storage }) => storage)?.name
}

function prepare(crd: Draft, old: KubeObject | undefined, { subresource }: WriteContext): void {
  if (old && subresource === 'status') {
    crd['spec'] = old['spec']
    return
  }
  const status = (old?.['status'] ?? emptyStatus) as Draft
  const stored = (status['storedVersions'] ?? []) as readonly string[]
  const next = storageVersion(crd['spec'])
  const storedVersions = next === undefined || stored.includes(next) ? status['storedVersions'] : [...stored, next]
  crd['status'] = equal(storedVersions, status['storedVersions']) ? status : { ...status, storedVersions }
}

const emptyStatus = { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: null }
