import { isObject, type KubeObject, type LabelSelector, type ResourceType, selectorOf } from '@crosstie/kube'
import type { Store } from '../../store/store.js'
import type { Kinds } from '../webhooks/attributes.js'

/** The kinds that parameters of policies may have. */
export interface ParamKinds extends Kinds {
  /** Returns the served kind. Undefined when it is not served. */
  find(apiVersion: string, kind: string): ResourceType | undefined
}

/**
 * Returns the objects that the paramRef of a binding selects. The policy is evaluated for each of them. Throws an
 * error that explains an invalid reference.
 */
export async function collectParams(
  type: ResourceType,
  paramRef: Readonly<Record<string, unknown>>,
  requestNamespace: string,
  kinds: ParamKinds,
  store: Pick<Store, 'get' | 'list'>,
): Promise<readonly KubeObject[]> {
  const text = (field: string) => (typeof paramRef[field] === 'string' ? (paramRef[field] as string) : '')
  const namespace = namespaceOf(type, text('namespace'), requestNamespace)
  const folder = namespace === '' ? `/${type.group}/${type.resource}/` : `/${type.group}/${type.resource}/${namespace}/`
  const found = text('name') !== '' ? byName(folder + text('name'), store) : bySelector(folder, paramRef, store)
  if (found.length === 0 && paramRef['parameterNotFoundAction'] === 'Deny') {
    throw new Error('no params found for policy binding with `Deny` parameterNotFoundAction')
  }
  return await Promise.all(found.map((param) => kinds.convert(param, type)))
}

function namespaceOf(type: ResourceType, given: string, requested: string): string {
  if (!type.namespaced) {
    if (given === '') return ''
    throw new Error('paramRef.namespace must not be provided for a cluster-scoped `paramKind`')
  }
  const namespace = given || requested
  if (namespace !== '') return namespace
  throw new Error('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources')
}

function byName(key: string, store: Pick<Store, 'get'>): KubeObject[] {
  const stored = store.get(key)
  return stored ? [stored.object] : []
}

function bySelector(
  folder: string,
  { selector }: Readonly<Record<string, unknown>>,
  store: Pick<Store, 'list'>,
): KubeObject[] {
  if (!isObject(selector)) throw new Error('one of name or selector must be provided')
  const selected = selectorOf(selector as LabelSelector)
  return store
    .list(folder)
    .items.map(({ object }) => object)
    .filter(({ metadata }) => selected.matches(metadata.labels ?? {}))
}
