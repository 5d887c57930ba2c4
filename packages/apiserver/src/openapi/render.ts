import { type Operation, type PathItem, queryParameters } from './paths.js'
import { type Dialect, type Document, refOf } from './schemas.js'

const pathParameters = {
  name: 'The name of the object.',
  namespace: 'The namespace of the objects.',
} as const

const words: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' }

/** Renders a path in one version of OpenAPI. */
export function renderPath(item: PathItem, dialect: Dialect): Document {
  const document: Document = {}
  const [first, ...others] = item.operations
  const common = (first?.query ?? []).filter((name) => others.every(({ query }) => query.includes(name)))
  for (const operation of item.operations) {
    const query = operation.query.filter((name) => !common.includes(name))
    document[operation.method] = renderOperation(item, { ...operation, query }, dialect)
  }
  const inPath = item.parameters.map((name) => parameter(name, 'path', 'string', pathParameters[name], dialect))
  const inQuery = [...common, 'pretty' as const].map((name) => queryParameter(name, dialect))
  document['parameters'] = [...inPath, ...inQuery].sort((a, b) => (String(a['name']) < String(b['name']) ? -1 : 1))
  return document
}

function queryParameter(name: keyof typeof queryParameters, dialect: Dialect): Document {
  const [type, words] = queryParameters[name]
  return parameter(name, 'query', type, words, dialect)
}

function parameter(name: string, where: string, type: string, description: string, dialect: Dialect): Document {
  const schema = { type, uniqueItems: true }
  const required = where === 'path' ? { required: true } : {}
  return { name, in: where, description, ...required, ...(dialect === 'v2' ? schema : { schema }) }
}

function renderOperation(item: PathItem, operation: Operation, dialect: Dialect): Document {
  const { action, id, description, query, body } = operation
  const parameters = query.map((name) => queryParameter(name, dialect))
  const streams = operation.streams ? item.produces.filter((type) => !type.includes('yaml')) : []
  const produces = [...item.produces, ...streams.map((type) => `${type};stream=watch`)]
  return {
    tags: [item.tag],
    description,
    operationId: id,
    ...(dialect === 'v2' ? v2Parts(operation, parameters, produces) : parameters.length > 0 ? { parameters } : {}),
    responses: responses(operation, produces, dialect),
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': item.kind,
    ...(dialect === 'v2' || !body
      ? {}
      : { requestBody: { content: contentOf(body.media, body.model), ...(body.required ? { required: true } : {}) } }),
  }
}

function v2Parts({ body }: Operation, parameters: readonly Document[], produces: readonly string[]): Document {
  const inBody = body
    ? [{ name: 'body', in: 'body', ...(body.required ? { required: true } : {}), schema: refOf(body.model, 'v2') }]
    : []
  const all = [...inBody, ...parameters]
  const consumes = body ? body.media : ['*/*']
  return { consumes, produces, schemes: ['https'], ...(all.length > 0 ? { parameters: all } : {}) }
}

function responses({ codes, response }: Operation, produces: readonly string[], dialect: Dialect): Document {
  const document: Document = {}
  for (const code of codes) {
    const answer = dialect === 'v2' ? { schema: refOf(response, 'v2') } : { content: contentOf(produces, response) }
    document[code] = { description: words[code], ...answer }
  }
  document['401'] = { description: 'Unauthorized' }
  return document
}

function contentOf(media: readonly string[], model: string): Document {
  return Object.fromEntries(media.map((type) => [type, { schema: refOf(model, 'v3') }]))
}
