import type { OpenApiConventions } from '../definitions/conventions.js'
import type { Definition, Version } from '../definitions/definition.js'
import { META } from './schemas.js'

/** An HTTP method in lower case. */
export type Method = 'get' | 'put' | 'post' | 'delete' | 'patch'

/** An operation of a path, independent of the version of OpenAPI. */
export interface Operation {
  readonly method: Method
  readonly action: string
  readonly id: string
  readonly description: string
  readonly query: readonly QueryName[]
  readonly body?: { readonly model: string; readonly media: readonly string[]; readonly required: boolean }
  readonly response: string
  readonly codes: readonly number[]
  readonly streams: boolean
}

/** A path with its operations. */
export interface PathItem {
  readonly path: string
  readonly parameters: readonly ('name' | 'namespace')[]
  readonly operations: readonly Operation[]
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string }
  readonly tag: string
  readonly produces: readonly string[]
}

type QueryName = keyof typeof queryParameters

/** The type and description of each query parameter. */
export const queryParameters = {
  allowWatchBookmarks: [
    'boolean',
    'Send bookmarks: events that carry only a resourceVersion from which the watch can resume.',
  ],
  continue: ['string', 'The continue token of the previous page.'],
  dryRun: ['string', '`All`: process the request without storing the result.'],
  fieldManager: ['string', 'The name of the manager of the written fields, at most 128 printable characters.'],
  fieldSelector: ['string', 'Select objects by fields.'],
  fieldValidation: ['string', 'How unknown and duplicate fields are handled: `Ignore`, `Warn` (default) or `Strict`.'],
  force: ['boolean', 'Take ownership of fields of other managers when applying.'],
  gracePeriodSeconds: ['integer', 'The grace period of the deletion in seconds. Zero deletes at once.'],
  ignoreStoreReadErrorWithClusterBreakingPotential: [
    'boolean',
    'Delete objects that cannot be read from storage, too.',
  ],
  labelSelector: ['string', 'Select objects by labels.'],
  limit: ['integer', 'The maximum number of objects of a page.'],
  orphanDependents: ['boolean', 'Deprecated: use propagationPolicy.'],
  pretty: ['string', '`true`: indent the response.'],
  propagationPolicy: ['string', 'How dependents are handled: `Orphan`, `Background` or `Foreground`.'],
  resourceVersion: ['string', 'The minimum revision of the response, or the revision at which a watch starts.'],
  resourceVersionMatch: ['string', 'How resourceVersion is applied: `Exact` or `NotOlderThan`.'],
  sendInitialEvents: ['boolean', 'Start the watch with the existing objects.'],
  timeoutSeconds: ['integer', 'The timeout of the request in seconds.'],
  watch: ['boolean', 'Watch for changes instead of listing.'],
} as const

const listQuery: readonly QueryName[] = [
  'allowWatchBookmarks',
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'timeoutSeconds',
  'watch',
]
const writeQuery: readonly QueryName[] = ['dryRun', 'fieldManager', 'fieldValidation']
const deleteQuery: readonly QueryName[] = [
  'dryRun',
  'gracePeriodSeconds',
  'ignoreStoreReadErrorWithClusterBreakingPotential',
  'orphanDependents',
  'propagationPolicy',
]
const collectionQuery: readonly QueryName[] = [
  ...deleteQuery,
  ...listQuery.filter((name) => !/watch/i.test(name)),
].sort()

/** The model names of a kind and its list. */
export interface Models {
  readonly object: string
  readonly list: string
}

/** Returns the paths of a version with their operations. */
export function pathsOf(definition: Definition, version: Version, models: Models): readonly PathItem[] {
  return new Paths(definition, version, models).all()
}

/** Returns `/api` for the core group and `/apis/GROUP` for others. */
export function groupRoot(group: string): string {
  return group === '' ? '/api' : `/apis/${group}`
}

class Paths {
  readonly #definition: Definition
  readonly #version: Version
  readonly #models: Models

  constructor(definition: Definition, version: Version, models: Models) {
    this.#definition = definition
    this.#version = version
    this.#models = models
  }

  get #openapi(): OpenApiConventions {
    return this.#definition.strategy.openapi
  }

  all(): readonly PathItem[] {
    const { namespaced, group, verbs, names } = this.#definition
    const root = `${groupRoot(group)}/${this.#version.name}`
    const collection = namespaced ? `${root}/namespaces/{namespace}/${names.plural}` : `${root}/${names.plural}`
    const within = namespaced ? (['namespace'] as const) : []
    const items = [this.#item(collection, within, this.#collection())]
    if (verbs.includes('get')) {
      items.push(this.#item(`${collection}/{name}`, ['name', ...within], this.#object('')))
      for (const [name, operations] of this.#subresources()) {
        items.push(this.#item(`${collection}/{name}/${name}`, ['name', ...within], operations))
      }
    }
    if (namespaced && verbs.includes('list')) {
      const everywhere = this.#list('ForAllNamespaces')
      items.push(this.#item(`${root}/${names.plural}`, [], [everywhere]))
    }
    return items
  }

  #item(path: string, parameters: PathItem['parameters'], operations: readonly Operation[]): PathItem {
    const { group, names, strategy } = this.#definition
    const media = ['application/json', 'application/yaml']
    return {
      path,
      parameters,
      operations,
      kind: { group, version: this.#version.name, kind: names.kind },
      tag: `${camelCase(this.#shortGroup(), false)}_${this.#version.name}`,
      produces: strategy.acceptsProtobuf ? [...media, 'application/vnd.kubernetes.protobuf'] : media,
    }
  }

  #collection(): Operation[] {
    const { verbs, names } = this.#definition
    const { object } = this.#models
    const operations: Operation[] = []
    if (verbs.includes('list')) operations.push(this.#list(''))
    if (verbs.includes('create')) {
      const body = { model: object, media: this.#bodyMedia(), required: true }
      operations.push(
        this.#operation('post', 'post', 'create', `create a ${names.kind}`, writeQuery, object, {
          body,
          codes: [200, 201, 202],
        }),
      )
    }
    if (verbs.includes('deletecollection')) operations.push(this.#deleteCollection())
    return operations
  }

  #deleteCollection(): Operation {
    const { names, strategy } = this.#definition
    const { describesDeleteOptions } = strategy.openapi
    const query = describesDeleteOptions ? collectionQuery : listQuery
    const whole = this.#delete('deletecollection', 'deleteCollection', `delete a collection of ${names.kind}`, query)
    if (describesDeleteOptions) return whole
    const { body: _, ...rest } = whole
    return rest
  }

  #list(suffix: string): Operation {
    const description = `list or watch objects of kind ${this.#definition.names.kind}`
    const id =
      suffix === ''
        ? this.#id('list', '')
        : `list${this.#group()}${upperFirst(this.#version.name)}${this.#definition.names.kind}${suffix}`
    return {
      ...this.#operation('get', 'list', 'list', description, listQuery, this.#models.list),
      id,
      streams: this.#definition.strategy.openapi.describesWatch,
    }
  }

  #object(suffix: string): Operation[] {
    const { kind } = this.#definition.names
    const { verbs } = this.#definition
    const { object } = this.#models
    const of = suffix === '' ? '' : `${suffix.toLowerCase()} of `
    const query: readonly QueryName[] = this.#openapi.readsAtRevision ? ['resourceVersion'] : []
    const found: Operation[] = [
      this.#operation('get', 'get', 'read', `read ${of}the specified ${kind}`, query, object, { suffix }),
    ]
    const body = { model: object, media: this.#bodyMedia(), required: true }
    if (verbs.includes('update')) {
      found.push(
        this.#operation('put', 'put', 'replace', `replace ${of}the specified ${kind}`, writeQuery, object, {
          suffix,
          body,
          codes: [200, 201],
        }),
      )
    }
    if (suffix === '' && verbs.includes('delete'))
      found.push(this.#delete('delete', 'delete', `delete a ${kind}`, deleteQuery))
    if (verbs.includes('patch')) found.push(this.#patch(suffix, object, `partially update ${of}the specified ${kind}`))
    return found
  }

  #patch(suffix: string, response: string, description: string): Operation {
    const media = this.#definition.strategy.patchMediaTypes
    const body = { model: `${META}.Patch`, media, required: true }
    return this.#operation('patch', 'patch', 'patch', description, [...writeQuery, 'force'], response, {
      suffix,
      body,
      codes: this.#openapi.patchCodes,
    })
  }

  #delete(action: string, word: string, description: string, query: readonly QueryName[]): Operation {
    const body = { model: `${META}.DeleteOptions`, media: this.#bodyMedia(), required: false }
    const codes = action === 'delete' ? [200, 202] : [200]
    return this.#operation('delete', action, word, description, query, `${META}.Status`, { body, codes })
  }

  #bodyMedia(): readonly string[] {
    return this.#openapi.bodyMedia
  }

  #subresources(): [string, Operation[]][] {
    const { subresources } = this.#version
    const found: [string, Operation[]][] = []
    if (subresources.status) found.push(['status', this.#object('Status')])
    if (subresources.scale) found.push(['scale', this.#scale()])
    if (subresources.finalize) {
      found.push(['finalize', this.#object('Finalize').filter(({ method }) => method === 'put')])
    }
    if (subresources.token) found.push(['token', [this.#token()]])
    return found
  }

  #scale(): Operation[] {
    const scale = 'io.k8s.api.autoscaling.v1.Scale'
    return this.#object('Scale').map((operation) => ({
      ...operation,
      response: scale,
      ...(operation.method === 'put' ? { body: { ...operation.body!, model: scale } } : {}),
    }))
  }

  #token(): Operation {
    const model = 'io.k8s.api.authentication.v1.TokenRequest'
    const body = { model, media: ['*/*'], required: true }
    return this.#operation('post', 'post', 'create', 'create token of a ServiceAccount', writeQuery, model, {
      suffix: 'Token',
      body,
      codes: [200, 201, 202],
    })
  }

  #operation(
    method: Method,
    action: string,
    word: string,
    description: string,
    query: readonly QueryName[],
    response: string,
    rest: { suffix?: string; body?: Operation['body']; codes?: readonly number[] } = {},
  ): Operation {
    const { suffix = '', body, codes = [200] } = rest
    const id = this.#id(word, suffix)
    return { method, action, id, description, query, response, codes, streams: false, ...(body ? { body } : {}) }
  }

  #id(word: string, suffix: string): string {
    const { namespaced, names } = this.#definition
    const collection = word === 'deleteCollection' ? 'Collection' : ''
    const verb = collection ? 'delete' : word
    return `${verb}${this.#group()}${upperFirst(this.#version.name)}${collection}${namespaced ? 'Namespaced' : ''}${names.kind}${suffix}`
  }

  #group(): string {
    return camelCase(this.#shortGroup(), true)
  }

  #shortGroup(): string {
    const { group } = this.#definition
    return group === '' ? 'core' : this.#openapi.shortGroup(group)
  }
}

const upperFirst = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/**
 * `cert-manager.io` becomes `certManagerIo`: characters that identifiers cannot have are removed, and the next
 * letter is capitalized.
 */
function camelCase(text: string, capital: boolean): string {
  const [first = '', ...rest] = text.split(/^[0-9]|[^A-Za-z0-9_]+/)
  return (capital ? upperFirst(first) : first) + rest.map(upperFirst).join('')
}
