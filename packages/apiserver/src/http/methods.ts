import { badRequest, fieldErrors, invalid, isObject, type KubeObject, StatusError } from '@crosstie/kube'
import { PATCH_TYPES, type PatchType } from '../definitions/conventions.js'
import { unrecognized } from '../definitions/type-meta.js'
import { Pace } from '../serving/pace.js'
import type { Body, Request, WriteRequest } from '../serving/request.js'
import type { Served } from '../serving/served.js'
import type { Exchange } from '../transport/exchange.js'
import { create } from '../verbs/create.js'
import { type DeleteOptions, remove } from '../verbs/delete.js'
import { removeAll } from '../verbs/deletecollection.js'
import { get } from '../verbs/get.js'
import { list } from '../verbs/list.js'
import { patch } from '../verbs/patch.js'
import { getScale, patchScale, updateScale } from '../verbs/scale.js'
import { issueToken, tokenRequest } from '../verbs/token.js'
import { update } from '../verbs/update.js'
import { decodeJson } from '../wire/json.js'
import { JsonSyntaxError } from '../wire/json-exact.js'
import { bodyType, unsupportedMediaType } from '../wire/negotiate.js'
import { decodeProtobuf } from '../wire/protobuf.js'
import { decodeYaml } from '../wire/yaml.js'
import { type Reply, sendListing, sendValue, sendView } from './encode.js'
import { type Media, readable, resourceMedia } from './media.js'
import {
  checkExport,
  integer,
  listParameters,
  type WriteParameters,
  watchParameters,
  writeParameters,
} from './parameters.js'
import { type ResourceRoute, truthy } from './route.js'
import type { ResourceCall } from './serve.js'
import { type IncludeObject, scaleTable } from './table.js'
import { serveWatch } from './watch.js'

/** The handlers of verbs over HTTP, by `verb` or `verb/subresource`. */
export const methods: Record<string, (call: ResourceCall) => Promise<void>> = {
  get: serveGet,
  list: serveList,
  watch: serveWatchCall,
  create: serveCreate,
  update: serveUpdate,
  patch: servePatch,
  delete: serveDelete,
  deletecollection: serveDeleteCollection,
  'get/status': serveGet,
  'update/status': serveUpdate,
  'patch/status': servePatch,
  'get/scale': async (call) => {
    const out = reply(call)
    checkExport(call.route.query)
    await sendScale(out, await getScale(call.site.engine, requestOf(call)))
  },
  'update/scale': async (call) => {
    const request = writeOf(call, 'UpdateOptions')
    await sendValue(reply(call), 200, await updateScale(call.site.engine, request, await bodyOf(call)))
  },
  'patch/scale': async (call) => {
    const { request, body } = await patchCall(call, patchTypeOf(call))
    await sendValue(reply(call), 200, await patchScale(call.site.engine, request, body))
  },
  'update/finalize': serveUpdate,
  'create/token': serveToken,
}

async function sendScale(out: Reply, scale: KubeObject): Promise<void> {
  if (out.media.as === 'Table') await sendValue(out, 200, scaleTable(scale, out.now))
  else await sendValue(out, 200, scale)
}

async function serveGet(call: ResourceCall): Promise<void> {
  const out = reply(call)
  checkExport(call.route.query)
  const view = await get(call.site.engine, requestOf(call), call.route.query.get('resourceVersion') ?? '')
  await sendView(out, call.served, 200, view)
}

async function serveList(call: ResourceCall): Promise<void> {
  const parameters = listParameters(call.route.query)
  const out = reply(call)
  await sendListing(out, call.served, await list(call.site.engine, requestOf(call), parameters))
}

async function serveWatchCall(call: ResourceCall): Promise<void> {
  const { site, exchange, route } = call
  const parameters = watchParameters(route.query)
  const out: Reply = {
    ...reply(call),
    media: resourceMedia(exchange.headers.accept, {
      stream: true,
      protobuf: call.served.definition.strategy.acceptsProtobuf,
    }),
  }
  const named = route.name ? { ...parameters, fieldSelector: `metadata.name=${route.name}` } : parameters
  serveWatch(site.engine, { ...requestOf(call), name: '' }, named, out, site.stopping)
}

async function serveCreate(call: ResourceCall): Promise<void> {
  const out = reply(call)
  // A create ignores the name in the URL. The body has the name.
  const request = writeOf(call, 'CreateOptions', '')
  const outcome = await create(call.site.engine, request, await bodyOf(call))
  await sendView(out, call.served, 201, outcome)
}

async function serveToken(call: ResourceCall): Promise<void> {
  const request = writeOf(call, 'CreateOptions')
  const out = reply(call)
  const body = await bodyOf({ ...call, served: tokenRequest })
  await sendValue(out, 201, await issueToken(call.site.engine, call.site.tokens, request, body))
}

async function serveUpdate(call: ResourceCall): Promise<void> {
  requireName(call)
  const out = reply(call)
  const request = writeOf(call, 'UpdateOptions')
  const outcome = await update(call.site.engine, request, await bodyOf(call))
  await sendView(out, call.served, outcome.created ? 201 : 200, outcome)
}

async function servePatch(call: ResourceCall): Promise<void> {
  const type = patchTypeOf(call)
  requireName(call)
  const out = reply(call)
  const { request, body } = await patchCall(call, type)
  const outcome = await patch(call.site.engine, request, body)
  await sendView(out, call.served, outcome.created ? 201 : 200, outcome)
}

/** Throws 400 without a name. Only requests for custom resources can reach this. */
function requireName({ route: { name } }: ResourceCall): void {
  if (name === '') throw badRequest('name must be provided')
}

/** Checked before the content type of the response. */
function patchTypeOf({ exchange, served }: ResourceCall): PatchType {
  const { strategy } = served.definition
  const contentType = (exchange.headers['content-type'] ?? '').split(';', 1)[0]?.trim()
  const mediaType = strategy.patchMediaTypes.find((each) => each === contentType)
  if (!mediaType) throw strategy.unsupportedPatchError()
  return PATCH_TYPES[mediaType]
}

async function patchCall(call: ResourceCall, type: PatchType) {
  const { exchange } = call
  const parameters = writeParameters('PatchOptions', call.route.query, exchange.headers['user-agent'])
  checkPatchOptions(type, call, parameters)
  const bytes = await exchange.body()
  const decoded = patchBody(type, bytes)
  const body = { type, force: parameters.force ?? false, ...decoded }
  return { request: { ...requestOf(call), ...parameters } satisfies WriteRequest, body }
}

function checkPatchOptions(type: PatchType, { route }: ResourceCall, { force }: WriteParameters): void {
  const options = { group: 'meta.k8s.io', kind: 'PatchOptions' }
  if (type !== 'apply' && force !== undefined) {
    throw invalid(options, '', [fieldErrors.forbidden('force', 'may not be specified for non-apply patch')])
  }
  if (type === 'apply' && !route.query.get('fieldManager')) {
    throw invalid(options, '', [fieldErrors.required('fieldManager', 'is required for apply patch')])
  }
}

async function serveDelete(call: ResourceCall): Promise<void> {
  const out = reply(call)
  const { request, options } = await deleteCall(call)
  const deletion = await remove(call.site.engine, request, options)
  if ('waits' in deletion) await sendView(out, call.served, 200, deletion.waits)
  else await sendValue(out, 200, deletion.status)
}

async function serveDeleteCollection(call: ResourceCall): Promise<void> {
  const out = reply(call)
  const { request, options } = await deleteCall(call)
  const listing = await removeAll(call.site.engine, request, listParameters(call.route.query), options)
  await sendListing(out, call.served, listing)
}

async function deleteCall(call: ResourceCall): Promise<{ request: WriteRequest; options: DeleteOptions }> {
  // With a body, kube-apiserver ignores the query, even dryRun.
  const given = (await deleteBody(call)) ?? fromQuery(call.route.query)
  const { dryRun, ...options } = checkedDeleteOptions(given)
  const parameters = writeParameters('DeleteOptions', new URLSearchParams(), call.exchange.headers['user-agent'])
  return { request: { ...requestOf(call), ...parameters, dryRun }, options }
}

async function deleteBody(call: ResourceCall): Promise<Record<string, unknown> | undefined> {
  const bytes = await call.exchange.body()
  if (bytes.length === 0) return undefined
  const value = deleteOptionsIn(bytes, bodyType(call.exchange.headers['content-type']))
  if (!isObject(value)) throw badRequest('the body of a delete must be DeleteOptions')
  const { kind, apiVersion } = value
  if (kind === undefined || kind === '' || kind === 'DeleteOptions') return value
  throw new StatusError(
    500,
    '',
    `no kind "${String(kind)}" is registered for version "${String(apiVersion)}" in scheme "pkg/runtime/scheme.go:110"`,
  )
}

function deleteOptionsIn(bytes: Buffer, type: string): unknown {
  try {
    if (type === 'application/vnd.kubernetes.protobuf') return decodeProtobuf(bytes).value
    return (type === 'application/yaml' ? fromYaml(bytes) : fromJson(bytes)).value
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw new StatusError(500, '', `couldn't get version/kind; json parse error: ${error.message}`)
  }
}

function fromQuery(query: URLSearchParams): Record<string, unknown> {
  const options: Record<string, unknown> = { dryRun: query.getAll('dryRun') }
  const policy = query.get('propagationPolicy')
  if (policy !== null) options['propagationPolicy'] = policy
  const orphan = query.get('orphanDependents')
  if (orphan !== null) options['orphanDependents'] = truthy(orphan)
  const grace = integer(query, 'gracePeriodSeconds')
  if (grace !== undefined) options['gracePeriodSeconds'] = grace
  return options
}

const policies = ['Foreground', 'Background', 'Orphan']

function checkedDeleteOptions(given: Record<string, unknown>): DeleteOptions & { dryRun: boolean } {
  const { propagationPolicy, orphanDependents, preconditions, gracePeriodSeconds, dryRun } = given
  const options = { group: 'meta.k8s.io', kind: 'DeleteOptions' }
  const policyGiven = propagationPolicy !== undefined && propagationPolicy !== null
  if (policyGiven && orphanDependents !== undefined && orphanDependents !== null) {
    throw invalid(options, '', [
      fieldErrors.invalid(
        'propagationPolicy',
        propagationPolicy,
        'orphanDependents and deletionPropagation cannot be both set',
      ),
    ])
  }
  if (policyGiven && !policies.includes(String(propagationPolicy))) {
    throw invalid(options, '', [fieldErrors.notSupported('propagationPolicy', propagationPolicy, [...policies, 'nil'])])
  }
  const dry = Array.isArray(dryRun) ? dryRun : []
  if (dry.some((value) => value !== 'All')) {
    throw invalid(options, '', [fieldErrors.notSupported('dryRun', dry, ['All'])])
  }
  return {
    dryRun: dry.length > 0,
    ...(policyGiven ? { propagationPolicy: propagationPolicy as DeleteOptions['propagationPolicy'] } : {}),
    ...(typeof orphanDependents === 'boolean' ? { orphanDependents } : {}),
    ...(isObject(preconditions) ? { preconditions } : {}),
    ...(typeof gracePeriodSeconds === 'number' ? { gracePeriodSeconds } : {}),
  }
}

function requestOf({ served, route, user, warnings, annotations, exchange }: ResourceCall): Request {
  const { name, subresource } = route
  const namespace = served.definition.namespaced ? route.namespace : ''
  return {
    served,
    namespace,
    name,
    subresource,
    user,
    warnings,
    annotations,
    signal: () => exchange.signal,
    pace: new Pace(),
  }
}

function writeOf(call: ResourceCall, kind: string, name = call.route.name): WriteRequest {
  const parameters = writeParameters(kind, call.route.query, call.exchange.headers['user-agent'])
  const { served, namespace, subresource, user, warnings, annotations, signal, pace } = requestOf(call)
  const { dryRun, fieldManager, fieldManagerNamed, fieldValidation } = parameters
  // A literal is faster than a spread on the path of every write.
  return {
    served,
    namespace,
    name,
    subresource,
    user,
    warnings,
    annotations,
    signal,
    pace,
    dryRun,
    fieldManager,
    fieldManagerNamed,
    fieldValidation,
  }
}

async function bodyOf({ exchange, served }: ResourceCall): Promise<Body> {
  const type = bodyType(exchange.headers['content-type'])
  const bytes = await exchange.body()
  try {
    if (type === 'application/json') return fromJson(bytes)
    if (type === 'application/yaml') return fromYaml(bytes)
    if (served.definition.strategy.acceptsProtobuf)
      return { value: decodeProtobuf(bytes).value, strictErrors: [], raw: bytes }
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw unreadable(served.type.kind, type, error.message, bytes)
  }
  throw unsupportedMediaType(['application/json', 'application/yaml'])
}

function unreadable(kind: string, type: string, why: string, bytes: Buffer): StatusError {
  if (type === 'application/json')
    return unrecognized(kind, `couldn't get version/kind; json parse error: ${why}`, bytes)
  if (type === 'application/yaml') return unrecognized(kind, why, bytes)
  if (bytes.length === 0) return unrecognized(kind, 'empty data', bytes)
  const [, given, version] = /^no kind "(.*)" is registered for version "(?:.*\/)?(.*)"$/.exec(why) ?? []
  if (given === undefined) return unrecognized(kind, why, bytes)
  const reported = `${why} in scheme "pkg/runtime/scheme.go:110"`
  return badRequest(`${given} in version "${version}" cannot be handled as a ${kind}: ${reported}`)
}

function patchBody(type: PatchType, bytes: Buffer): Body {
  try {
    if (type === 'apply') return fromYaml(bytes)
    const body = fromJson(bytes)
    if (type !== 'json') return body
    const errors = [...unknownMembers(body.value), ...body.strictErrors]
    return { ...body, strictErrors: errors.map((error) => `json patch ${error}`) }
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    const what = type === 'apply' ? 'error decoding YAML: error converting YAML to JSON' : 'error decoding patch'
    throw badRequest(`${what}: ${error.message}`)
  }
}

const operationMembers = new Set(['op', 'path', 'from', 'value'])

/** Returns unknown members of the operations of a JSON patch. */
function unknownMembers(operations: unknown): string[] {
  if (!Array.isArray(operations)) return []
  return operations.flatMap((operation, i) =>
    isObject(operation)
      ? Object.keys(operation)
          .filter((name) => !operationMembers.has(name))
          .map((name) => `unknown field "[${i}].${name}"`)
      : [],
  )
}

function fromJson(raw: Buffer): Body {
  const { value, duplicates } = decodeJson(raw, { strict: true, limited: true })
  return { value, strictErrors: duplicates.map((path) => `duplicate field "${path}"`), raw }
}

function fromYaml(raw: Buffer): Body {
  return { ...decodeYaml(raw, { strict: true, limited: true }), raw }
}

function reply({ exchange, route, served, warnings, site }: ResourceCall): Reply {
  const media = mediaFor(exchange, route, served)
  const include = route.query.get('includeObject') || 'Metadata'
  if (media.as === 'Table' && include !== 'None' && include !== 'Metadata' && include !== 'Object') {
    const why = `includeObject: Invalid value: ${JSON.stringify(include)}: must be 'Metadata', 'Object', 'None', or empty`
    throw badRequest(`Unable to convert to Table as requested: ${why}`)
  }
  return { exchange, media, warnings, include: include as IncludeObject, now: site.engine.clock.now() }
}

function mediaFor(exchange: Exchange, { query, subresource, verb }: ResourceRoute, { definition }: Served): Media {
  const { accept } = exchange.headers
  // The answer of a review has no columns.
  const tables = definition.strategy.answer === undefined && subresource !== 'token'
  try {
    return readable(resourceMedia(accept, { tables, protobuf: definition.strategy.acceptsProtobuf }), query, exchange)
  } catch (error) {
    throw definition.strategy.notAcceptableError(error, accept, verb === 'list' || verb === 'watch')
  }
}
