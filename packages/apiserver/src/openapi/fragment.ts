import type { Definition, Version } from '../definitions/definition.js'
import { customDocument } from './custom.js'
import { Part } from './part.js'
import { pathsOf } from './paths.js'
import { renderPath } from './render.js'
import { type Dialect, type Document, META, refOf, structModel } from './schemas.js'

/** The part of a document that describes one version of a kind. */
export interface Fragment {
  readonly models: readonly Part[]
  readonly paths: readonly Part[]
  /** Models of other types that it references. */
  readonly needs: readonly string[]
}

const fragments = new WeakMap<Version, Map<Dialect, Fragment>>()

/** Returns the fragment of a version. It is cached as long as the definition is in use. */
export function fragmentOf(definition: Definition, version: Version, dialect: Dialect): Fragment {
  let known = fragments.get(version)
  if (!known) {
    known = new Map()
    fragments.set(version, known)
  }
  let fragment = known.get(dialect)
  if (!fragment) {
    fragment = makeFragment(definition, version, dialect)
    known.set(dialect, fragment)
  }
  return fragment
}

function makeFragment(definition: Definition, version: Version, dialect: Dialect): Fragment {
  const { group, names, verbs, strategy } = definition
  const object = strategy.model ?? customModel(group, version.name, names.kind)
  const list = object.slice(0, object.lastIndexOf('.') + 1) + names.listKind
  const marks = {
    'x-kubernetes-group-version-kind': [{ group, kind: names.kind, version: version.name }],
    ...selectableFields(definition, version),
  }
  const own = strategy.model ? structModel(strategy.model, dialect) : undefined
  const make = own ? () => own.document : () => customDocument(version.schema, dialect)
  const models = [new Part(object, () => ({ ...make(), ...marks }))]
  if (verbs.includes('list')) models.push(new Part(list, () => listDocument(definition, version, object, dialect)))
  const paths = pathsOf(definition, version, { object, list })
  return {
    models,
    paths: paths.map((item) => new Part(item.path, () => renderPath(item, dialect))),
    needs: [...(own?.refs ?? [`${META}.ObjectMeta`]), ...verbModels(definition), ...subresourceModels(version)],
  }
}

/** Models that operations reference besides the kind. */
function verbModels({ verbs, strategy }: Definition): string[] {
  const found: string[] = []
  if (verbs.includes('list')) found.push('ListMeta')
  if (verbs.includes('patch')) found.push('Patch')
  if (verbs.includes('delete')) found.push('DeleteOptions', 'Status')
  if (verbs.includes('watch') && strategy.openapi.describesWatch) found.push('WatchEvent')
  return found.map((name) => `${META}.${name}`)
}

function subresourceModels({ subresources }: Version): string[] {
  const found = subresources.scale ? ['io.k8s.api.autoscaling.v1.Scale'] : []
  return subresources.token ? [...found, 'io.k8s.api.authentication.v1.TokenRequest'] : found
}

function selectableFields({ strategy }: Definition, version: Version): Document {
  if (!strategy.openapi.describesSelectableFields || version.selectableFields.length === 0) return {}
  const fields = version.selectableFields.map((path) => ({ fieldPath: path.replace(/^\./, '') }))
  return { 'x-kubernetes-selectable-fields': fields }
}

/** `org.example.v1.Database`: the group in reverse order. */
function customModel(group: string, version: string, kind: string): string {
  return [...group.split('.').reverse(), version, kind].join('.')
}

function listDocument(definition: Definition, version: Version, object: string, dialect: Dialect): Document {
  const { group, names, strategy } = definition
  const { defaultsReferences } = strategy.openapi
  const ref = refOf(object, dialect)
  const meta = refOf(`${META}.ListMeta`, dialect)
  const description = `A list of ${names.kind} objects.`
  return {
    description,
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: { type: 'string', description: 'The group and version of the list.' },
      items: {
        type: 'array',
        items: dialect === 'v2' || !defaultsReferences ? ref : { default: {}, allOf: [ref] },
        description: 'The objects.',
      },
      kind: { type: 'string', description: 'The kind of the list.' },
      metadata:
        dialect === 'v2'
          ? { ...meta, description: 'List metadata: resourceVersion and continue.' }
          : {
              ...(defaultsReferences ? { default: {} } : {}),
              allOf: [meta],
              description: 'List metadata: resourceVersion and continue.',
            },
    },
    'x-kubernetes-group-version-kind': [{ group, kind: names.listKind, version: version.name }],
    ...selectableFields(definition, version),
  }
}
