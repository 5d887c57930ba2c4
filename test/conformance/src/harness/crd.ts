import type { Case } from './case.js'
import type { Loose } from './http.js'

/** The path of the CustomResourceDefinitions. */
export const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** A CRD, and helpers for its objects. */
export interface Definition {
  readonly crd: Loose
  readonly group: string
  readonly plural: string
  readonly kind: string
  /** Returns the path of the collection in a version, of all namespaces or of one. */
  path(namespace?: string, version?: string): string
  /** Returns an object of the kind with these fields in addition to its metadata. */
  object(name: string, fields?: Record<string, Loose>, version?: string): Loose
}

/** Options of a CRD. */
export interface DefinitionOptions {
  readonly scope?: 'Namespaced' | 'Cluster'
  readonly plural?: string
  readonly kind?: string
  readonly group?: string
  readonly names?: Record<string, Loose>
  /** The schema of the properties besides apiVersion, kind and metadata. */
  readonly properties?: Record<string, Loose>
  /** The complete schema instead. */
  readonly schema?: Loose
  /** More fields of version v1: subresources, additionalPrinterColumns, selectableFields. */
  readonly version?: Record<string, Loose>
  /** All versions instead of v1. */
  readonly versions?: Loose[]
  readonly spec?: Record<string, Loose>
  readonly metadata?: Record<string, Loose>
}

/** Returns the manifest of a CRD in the group of the case, and the paths of its objects. */
export function definition(t: Case, options: DefinitionOptions = {}): Definition {
  const { scope = 'Namespaced', plural = 'widgets', kind = 'Widget' } = options
  const group = options.group ?? `${t.id}.example.com`
  const schema = options.schema ?? { type: 'object', properties: options.properties ?? anything }
  const versions = options.versions ?? [
    { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...options.version },
  ]
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, ...options.metadata },
    spec: { group, scope, names: { plural, kind, ...options.names }, versions, ...options.spec },
  }
  return {
    crd,
    group,
    plural,
    kind,
    path: (namespace, version = versions[0].name) =>
      `/apis/${group}/${version}/${namespace ? `namespaces/${namespace}/` : ''}${plural}`,
    object: (name, fields = {}, version = versions[0].name) => ({
      apiVersion: `${group}/${version}`,
      kind,
      metadata: { name },
      ...fields,
    }),
  }
}

/** Registers a CRD and waits until it is served. It is deleted at the end of the case. */
export async function define(t: Case, options: DefinitionOptions = {}): Promise<Definition> {
  const made = definition(t, options)
  await register(t, made)
  return made
}

/** Creates a CRD and waits until it is served. */
export async function register(t: Case, made: Definition): Promise<void> {
  await t.must('POST', CRDS, { body: made.crd })
  t.cleanup(() => t.quiet('DELETE', `${CRDS}/${made.crd.metadata.name}`))
  await established(t, made)
}

/** Waits until every served version of the CRD responds. */
export async function established(t: Case, made: Definition): Promise<void> {
  await t.until(`${CRDS}/${made.crd.metadata.name}`, ({ body }) => hasCondition(body, 'Established', 'True'))
  for (const version of made.crd.spec.versions) {
    if (version.served) await t.until(made.path(undefined, version.name), ({ status }) => status === 200)
  }
}

/** Reports whether the object has the condition with the status. */
export const hasCondition = (object: Loose, type: string, status: string): boolean =>
  (object?.status?.conditions ?? []).some((each: Loose) => each.type === type && each.status === status)

const anything = { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
