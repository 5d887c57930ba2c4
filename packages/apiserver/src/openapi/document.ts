import { createHash } from 'node:crypto'
import { append, stringify } from '@crosstie/kube'
import type { Definition, Version } from '../definitions/definition.js'
import { fragmentOf } from './fragment.js'
import { encodeGnostic } from './gnostic.js'
import { addModels, type Part } from './part.js'
import { groupRoot } from './paths.js'
import { type Dialect, META } from './schemas.js'

/** A rendered document. `hash` changes with its text. */
export interface OpenApiDocument {
  readonly json: Buffer
  readonly hash: string
}

/** An OpenAPI 2 document. */
export interface OpenApiV2Document extends OpenApiDocument {
  /** The document in gnostic's protobuf, which client-go requests. */
  readonly protobuf: Buffer
}

const info = { title: 'Kubernetes', version: '1.34' }
const customInfo = { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' }
const securityDefinitions = {
  BearerToken: { description: 'A bearer token', type: 'apiKey', name: 'authorization', in: 'header' },
}
const security = [{ BearerToken: [] }]

/** `/openapi/v2`: all kinds in one document. It is rendered again when a definition changed. */
export function openApiV2(definitions: readonly Definition[]): OpenApiV2Document {
  return remembered('v2', definitions, () => {
    const { paths, models } = contents(definitions, 'v2', () => true, builtinGroups(definitions))
    const frame = `{"swagger":"2.0","info":${stringify(info)},"paths":{`
    const rest = `},"securityDefinitions":${stringify(securityDefinitions)},"security":${stringify(security)}}`
    const document = assembled([frame, paths, '},"definitions":{', models, rest])
    let protobuf: Buffer | undefined
    return {
      ...document,
      get protobuf() {
        protobuf ??= encodeGnostic({ swagger: '2.0', info, security, securityDefinitions }, paths, models)
        return protobuf
      },
    }
  })
}

/** `/openapi/v3/apis/GROUP/VERSION`. Undefined when the version is not served. */
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
    const { paths, models } = contents(members, 'v3', ({ name }) => name === version, builtinGroups(definitions))
    const custom = !members.some(({ strategy }) => strategy.openapi.inScheme)
    const frame = `{"openapi":"3.0.0","info":${stringify(custom ? customInfo : info)},"paths":{`
    const rest = custom ? '}}}' : `},"securitySchemes":${stringify(securityDefinitions)}}}`
    return assembled([frame, paths, '},"components":{"schemas":{', models, rest])
  })
}

const plainPaths = ['version', '.well-known/openid-configuration', 'openid/v1/jwks'] as const

/** Documents of paths outside of groups. Undefined for other paths. */
export function openApiV3Plain(path: string): OpenApiDocument | undefined {
  if (!(plainPaths as readonly string[]).includes(path)) return undefined
  const responses = { 200: { description: 'OK', content: { 'application/json': { schema: { type: 'object' } } } } }
  const paths = { [path === 'version' ? '/version/' : `/${path}/`]: { get: { responses } } }
  return assembled([stringify({ openapi: '3.0.0', info, paths })])
}

/** `/openapi/v3`: the URLs of all documents, with hashes so that clients can cache them without a limit. */
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
    for (const path of plainPaths) {
      const { hash } = openApiV3Plain(path)!
      paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }
    }
    const sorted = Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1)))
    return assembled([stringify({ paths: sorted })])
  })
}

/** Concatenates texts and parts. Unchanged parts are neither rendered nor hashed again. */
function assembled(pieces: readonly (string | readonly Part[])[]): OpenApiDocument {
  const hash = createHash('sha512')
  const chunks: Buffer[] = []
  const comma = Buffer.from(',')
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      hash.update(piece)
      chunks.push(Buffer.from(piece))
      continue
    }
    piece.forEach((part, i) => {
      hash.update(part.hash)
      if (i > 0) chunks.push(comma)
      chunks.push(part.json)
    })
  }
  return { json: Buffer.concat(chunks), hash: hash.digest('hex').toUpperCase() }
}

/** The last document for each purpose, with the definitions that it was derived from. */
const memory = new Map<string, { readonly from: readonly Definition[]; readonly made: unknown }>()
const MEMORY_MAX = 1_000

function remembered<T>(purpose: string, from: readonly Definition[], make: () => T): T {
  const known = memory.get(purpose)
  if (known && known.from.length === from.length && known.from.every((one, i) => one === from[i])) {
    return known.made as T
  }
  const made = make()
  // Documents of removed groups must not accumulate.
  if (memory.size >= MEMORY_MAX) memory.clear()
  memory.set(purpose, { from, made })
  return made
}

interface Contents {
  readonly paths: readonly Part[]
  readonly models: readonly Part[]
}

interface GroupVersion {
  readonly group: string
  readonly version: string
}

function contents(
  all: readonly Definition[],
  dialect: Dialect,
  wanted: (version: Version) => boolean,
  groups: readonly GroupVersion[],
): Contents {
  const paths: Part[] = []
  const models = new Map<string, Part>()
  for (const definition of all) {
    for (const version of definition.versions.filter(wanted)) {
      const fragment = fragmentOf(definition, version, dialect)
      for (const part of fragment.models) models.set(part.name, part)
      addModels(fragment.needs, models, dialect)
      append(paths, fragment.paths)
    }
  }
  addGroupKinds(models, groups)
  return { paths: sorted(paths), models: sorted([...models.values()]) }
}

/** Built-in groups, which are in kube-apiserver's scheme. Groups of custom resources never are. */
function builtinGroups(definitions: readonly Definition[]): readonly GroupVersion[] {
  const found = new Map<string, GroupVersion>()
  for (const { strategy, group, versions } of definitions) {
    if (!strategy.openapi.inScheme) continue
    for (const { name } of versions) found.set(`${group}/${name}`, { group, version: name })
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each)
}

/** Adds the kinds that belong to every built-in group to the document of any group. */
function addGroupKinds(models: Map<string, Part>, groups: readonly GroupVersion[]): void {
  const add = (kind: string, of: readonly GroupVersion[]) => {
    const part = models.get(`${META}.${kind}`)
    if (!part) return
    const kinds = of.map(({ group, version }) => ({ group, kind, version }))
    models.set(part.name, part.with({ 'x-kubernetes-group-version-kind': kinds }))
  }
  add('DeleteOptions', groups)
  add('WatchEvent', groups)
  add('Status', [{ group: '', version: 'v1' }])
}

function sorted(parts: readonly Part[]): readonly Part[] {
  return [...parts].sort((a, b) => (a.name < b.name ? -1 : 1))
}
