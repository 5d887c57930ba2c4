import { createHash } from 'node:crypto'
import { stringify } from '@crosstie/kube'
import { modelOf } from '../builtin/models.js'
import type { Definition, Version } from '../definitions/definition.js'
import { customDocument } from './custom.js'
import { encodeGnostic } from './gnostic.js'
import { groupRoot, type Models, pathsOf } from './paths.js'
import { renderPath } from './render.js'
import { addModels, type Dialect, type Document, META, refOf } from './schemas.js'

/** A finished document. `hash` changes exactly when its text does. */
export interface OpenApiDocument {
  readonly json: Buffer
  readonly hash: string
}

export interface OpenApiV2Document extends OpenApiDocument {
  /** The same as gnostic's protobuf, which is what client-go asks for. */
  readonly protobuf: Buffer
}

const info = { title: 'Kubernetes', version: '1.34' }

/** `/openapi/v2`: every kind in one document. Made anew only when a definition changed. */
export function openApiV2(definitions: readonly Definition[]): OpenApiV2Document {
  return remembered('v2', definitions, () => {
    const document = {
      swagger: '2.0',
      info,
      ...contents(definitions, 'v2', () => true),
      securityDefinitions: {
        BearerToken: { description: 'A bearer token', type: 'apiKey', name: 'authorization', in: 'header' },
      },
      security: [{ BearerToken: [] }],
    }
    let protobuf: Buffer | undefined
    return {
      ...finished(document),
      get protobuf() {
        protobuf ??= encodeGnostic(document)
        return protobuf
      },
    }
  })
}

/** `/openapi/v3/apis/GROUP/VERSION`, or undefined when nothing of the kind is served. */
export function openApiV3(
  definitions: readonly Definition[],
  group: string,
  version: string,
): OpenApiDocument | undefined {
  const members = definitions.filter(
    (definition) => definition.group === group && definition.versions.some(({ name }) => name === version),
  )
  if (members.length === 0) return undefined
  return remembered(`${group}/${version}`, members, () => {
    const { paths, definitions: schemas } = contents(members, 'v3', ({ name }) => name === version)
    return finished({ openapi: '3.0.0', info, paths, components: { schemas, securitySchemes } })
  })
}

const securitySchemes = {
  BearerToken: { description: 'A bearer token', type: 'apiKey', name: 'authorization', in: 'header' },
}

/** `/openapi/v3`: where each document is, with a hash so that clients may keep it for good. */
export function openApiV3Index(definitions: readonly Definition[]): OpenApiDocument {
  return remembered('index', definitions, () => {
    const paths: Record<string, { serverRelativeURL: string }> = {}
    for (const { group, versions } of definitions) {
      for (const { name } of versions) {
        const path = `${groupRoot(group).slice(1)}/${name}`
        if (path in paths) continue
        const { hash } = openApiV3(definitions, group, name)!
        paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }
      }
    }
    return finished({ paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))) })
  })
}

function finished(document: unknown): OpenApiDocument {
  const json = Buffer.from(stringify(document))
  return { json, hash: createHash('sha512').update(json).digest('hex').toUpperCase() }
}

/** What was made last for a purpose, and from which definitions. */
const memory = new Map<string, { readonly from: readonly Definition[]; readonly made: unknown }>()
const MEMORY_MAX = 1_000

function remembered<T>(purpose: string, from: readonly Definition[], make: () => T): T {
  const known = memory.get(purpose)
  if (known && known.from.length === from.length && known.from.every((one, i) => one === from[i]))
    return known.made as T
  const made = make()
  // Groups come and go; what they left behind must not pile up.
  if (memory.size >= MEMORY_MAX) memory.clear()
  memory.set(purpose, { from, made })
  return made
}

interface Contents {
  readonly paths: Document
  readonly definitions: Document
}

function contents(all: readonly Definition[], dialect: Dialect, wanted: (version: Version) => boolean): Contents {
  const paths: Document = {}
  const models: Document = {}
  const groups: { group: string; version: string }[] = []
  for (const definition of all) {
    for (const version of definition.versions.filter(wanted)) {
      const names = addKind(definition, version, dialect, models)
      for (const item of pathsOf(definition, version, names)) paths[item.path] = renderPath(item, dialect)
      const { group } = definition
      if (!groups.some((one) => one.group === group && one.version === version.name)) {
        groups.push({ group, version: version.name })
      }
    }
  }
  addModels(shared, models, dialect)
  addGroupKinds(models, groups)
  return { paths: sorted(paths), definitions: sorted(models) }
}

const shared = ['DeleteOptions', 'Status', 'ListMeta', 'ObjectMeta', 'Patch', 'WatchEvent'].map(
  (name) => `${META}.${name}`,
)

/** These belong to every group. */
function addGroupKinds(models: Document, groups: readonly { group: string; version: string }[]): void {
  const add = (kind: string, of: readonly { group: string; version: string }[]) => {
    const name = `${META}.${kind}`
    const kinds = of.map(({ group, version }) => ({ group, kind, version }))
    models[name] = { ...(models[name] as Document), 'x-kubernetes-group-version-kind': kinds }
  }
  const core = [{ group: '', version: 'v1' }]
  const all = groups.some(({ group }) => group === '') ? groups : [...core, ...groups]
  add('DeleteOptions', all)
  add('WatchEvent', all)
  add('Status', core)
}

function sorted(object: Document): Document {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function addKind(definition: Definition, version: Version, dialect: Dialect, models: Document): Models {
  const { group, names, verbs } = definition
  const builtin = definition.crd
    ? undefined
    : modelOf(group === '' ? version.name : `${group}/${version.name}`, names.kind)
  const object = builtin ?? customModel(group, version.name, names.kind)
  const list = object.slice(0, object.lastIndexOf('.') + 1) + names.listKind
  const kind = { group, kind: names.kind, version: version.name }
  if (builtin) addModels([builtin], models, dialect)
  else models[object] = customDocument(version.schema, dialect)
  const selectable = selectableFields(definition, version)
  models[object] = { ...(models[object] as Document), 'x-kubernetes-group-version-kind': [kind], ...selectable }
  if (version.subresources.scale) addModels(['io.k8s.api.autoscaling.v1.Scale'], models, dialect)
  if (group === '' && names.plural === 'serviceaccounts')
    addModels(['io.k8s.api.authentication.v1.TokenRequest'], models, dialect)
  if (verbs.includes('list')) {
    models[list] = { ...listDocument(definition, version, object, dialect), ...selectable }
  }
  return { object, list }
}

function selectableFields({ crd }: Definition, version: Version): Document {
  if (!crd || version.selectableFields.length === 0) return {}
  const fields = version.selectableFields.map((path) => ({ fieldPath: path.replace(/^\./, '') }))
  return { 'x-kubernetes-selectable-fields': fields }
}

/** `org.example.v1.Database`: the group backwards. */
function customModel(group: string, version: string, kind: string): string {
  return [...group.split('.').reverse(), version, kind].join('.')
}

function listDocument({ group, names }: Definition, version: Version, object: string, dialect: Dialect): Document {
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
        items: dialect === 'v2' ? ref : { default: {}, allOf: [ref] },
        description: 'The objects.',
      },
      kind: { type: 'string', description: 'The kind of the list.' },
      metadata:
        dialect === 'v2'
          ? { ...meta, description: 'Where the list stands.' }
          : { default: {}, allOf: [meta], description: 'Where the list stands.' },
    },
    'x-kubernetes-group-version-kind': [{ group, kind: names.listKind, version: version.name }],
  }
}
