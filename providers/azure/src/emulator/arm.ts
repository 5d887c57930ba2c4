import { randomBytes, randomUUID } from 'node:crypto'
import { defined, listOf, merged, textOf, type Values, valuesOf, without } from '../values.js'
import type { Answer, Behavior, Change } from './behavior.js'
import { behaviorOf, isNamespace } from './behaviors/index.js'
import { fact } from './facts.js'
import { displayLocation, isLocation, locationNames, shortLocation } from './locations.js'
import { badRequest, conflict, noGroup, Problem } from './problem.js'
import { idOf, lastName, parentOf, parseTarget, type Target, typeOf } from './resource-id.js'
import { checkBody } from './shape.js'
import type { Operation, Stored, World } from './world.js'

export interface ArmRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly body: unknown
  /** Where the emulator is reached, for links in answers. */
  readonly origin: string
}

export interface ArmAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

const VERSION = /^\d{4}-\d{2}-\d{2}(-preview|-privatepreview|-alpha|-beta)?$/

/** Answers requests as Azure Resource Manager does. */
export class ResourceManager {
  readonly world: World
  /** Seconds of `Retry-After` in every answer. Undefined: those of the real service. */
  readonly #retryAfter: number | undefined

  constructor(world: World, retryAfter?: number) {
    this.world = world
    this.#retryAfter = retryAfter
  }

  /** Throws a Problem for requests that the service refuses. */
  answer(request: ArmRequest): ArmAnswer {
    const operation = this.world.operationAt(request.path)
    if (operation && request.method === 'GET') return this.#poll(operation, request)
    const subscription = /^\/subscriptions\/([^/]+)$/i.exec(request.path)?.[1]
    if (subscription) return { status: 200, body: this.#subscription(subscription) }
    const target = parseTarget(request.path, request.method)
    if (!target) throw new Problem(404, 'InvalidResourceNamespace', `The path '${request.path}' is not known.`)
    const apiVersion = versionOf(request.query)
    return this.#dispatch(target, knownBehavior(target, apiVersion), apiVersion, request)
  }

  #dispatch(target: Target, behavior: Behavior, apiVersion: string, request: ArmRequest): ArmAnswer {
    if (target.collection) return this.#list(target, behavior, apiVersion, request)
    switch (request.method) {
      case 'GET':
        return this.#get(target, behavior, apiVersion)
      case 'HEAD':
        return { status: this.#seen(target, behavior) ? 204 : 404 }
      case 'PUT':
        return this.#put(target, behavior, apiVersion, request)
      case 'PATCH':
        return this.#patch(target, behavior, apiVersion, request)
      case 'DELETE':
        return this.#delete(target, behavior, apiVersion, request)
      case 'POST':
        return this.#act(target, behavior)
      default:
        throw new Problem(405, 'HttpMethodNotAllowed', `The http method '${request.method}' is not supported.`)
    }
  }

  #subscription(subscriptionId: string): Values {
    const id = `/subscriptions/${subscriptionId}`
    return { id, subscriptionId, tenantId: this.world.options.tenant, displayName: 'emulated', state: 'Enabled' }
  }

  #get(target: Target, behavior: Behavior, apiVersion: string): ArmAnswer {
    this.#requireGroup(target)
    const found = this.#seen(target, behavior)
    if (found) return { status: 200, body: this.#show(found, behavior, apiVersion) }
    this.#requireParent(target, 'read')
    throw missing(target, behavior)
  }

  /** The resource, as far as reads see it. A singleton is there as long as its parent is. */
  #seen(target: Target, behavior: Behavior): Stored | undefined {
    const found = this.world.findTarget(target)
    if (found) return behavior.hidden && found.phase === 'creating' ? undefined : found
    const { singleton } = behavior
    const parent = parentOf(target)
    if (!singleton || lastName(target).toLowerCase() !== singleton.toLowerCase()) return undefined
    const holder = parent && this.world.findTarget(parent)
    return holder && this.#stored(target, holder.location, {}, undefined, behavior)
  }

  #list(target: Target, behavior: Behavior, apiVersion: string, { query }: ArmRequest): ArmAnswer {
    if (target.namespace) {
      this.#requireGroup(target)
      this.#requireParent(target, 'read')
    }
    const prefix = target.namespace
      ? idOf({ ...target, types: target.types.slice(0, target.names.length) })
      : `/subscriptions/${target.subscription}`
    const scope =
      target.names.length > 0 || !target.namespace
        ? prefix
        : `/subscriptions/${target.subscription}${target.group ? `/resourceGroups/${target.group}` : ''}`
    const all = [...this.world.below(scope, typeOf(target))].filter(
      (each) => !(behavior.hidden && each.phase === 'creating'),
    )
    const tag = /^tagName eq '([^']*)'(?: and tagValue eq '([^']*)')?$/.exec(query.get('$filter') ?? '')
    const chosen = tag ? all.filter(({ body }) => valuesOf(body['tags'])[tag[1] ?? ''] === tag[2]) : all
    return { status: 200, body: { value: chosen.map((each) => this.#show(each, behavior, apiVersion)) } }
  }

  #put(target: Target, behavior: Behavior, apiVersion: string, request: ArmRequest): ArmAnswer {
    const body = valuesOf(request.body)
    if (target.namespace) this.#requireGroup(target)
    this.#requireParent(target, 'write')
    const type = typeOf(target)
    checkName(target, body)
    const held = this.world.findTarget(target)
    checkLocation(type, behavior, body, held)
    checkTags(body)
    checkBody(type, apiVersion, body)
    const change: Change = { target, body, apiVersion, held, world: this.world }
    behavior.check?.(change)
    if (held?.operation && held.phase === 'deleting') {
      throw conflict('ResourceGroupBeingDeleted', `The resource '${held.id}' is being deleted and cannot be changed.`)
    }
    if (held && held.phase !== 'creating') return this.#write(held, behavior, change, request)
    const parent = parentOf(target)
    const location = textOf(body['location']) ?? (parent && this.world.findTarget(parent)?.location) ?? 'global'
    const made = held ?? this.#stored(target, location, body, randomUUID(), behavior)
    this.world.put(made)
    const answer = behavior.create
    made.phase = answer.polling ? 'creating' : 'ready'
    if (!behavior.hidden || !answer.polling) behavior.written?.(made, this.world)
    return this.#begun(made, behavior, answer, apiVersion, request, () => {
      made.phase = 'ready'
      made.etag = randomUUID()
      if (behavior.hidden) behavior.written?.(made, this.world)
    })
  }

  #write(held: Stored, behavior: Behavior, change: Change, request: ArmRequest): ArmAnswer {
    const next = behavior.merges ? merged(held.body, change.body) : change.body
    const quick = behavior.quick?.(change) ?? false
    const apply = () => {
      held.body = next
      held.etag = randomUUID()
      behavior.written?.(held, this.world)
    }
    if (quick || !behavior.update.polling) {
      apply()
      const { polling, ...answer } = behavior.update
      if (!polling) return this.#begun(held, behavior, answer, change.apiVersion, request, () => {})
      const begun = this.#begun(
        held,
        behavior,
        { ...answer, polling: { ...polling, retryAfter: undefined } },
        change.apiVersion,
        request,
        () => {},
      )
      this.world.schedule(begunPath(held) ?? '', 0)
      return begun
    }
    if (!behavior.hidden) {
      apply()
      held.phase = 'updating'
    }
    return this.#begun(held, behavior, behavior.update, change.apiVersion, request, () => {
      if (behavior.hidden) apply()
      held.etag = randomUUID()
      held.phase = 'ready'
    })
  }

  /** Tags, and whatever else the body names. */
  #patch(target: Target, behavior: Behavior, apiVersion: string, request: ArmRequest): ArmAnswer {
    this.#requireGroup(target)
    const held = this.#seen(target, behavior)
    if (!held) throw missing(target, behavior)
    const body = valuesOf(request.body)
    checkTags(body)
    const whole = { ...merged(held.body, without(body, 'tags')), ...(body['tags'] ? { tags: body['tags'] } : {}) }
    const change: Change = { target, body: whole, apiVersion, held, world: this.world }
    behavior.check?.(change)
    return this.#write(held, { ...behavior, merges: false }, change, request)
  }

  #delete(target: Target, behavior: Behavior, apiVersion: string, request: ArmRequest): ArmAnswer {
    if (target.namespace) this.#requireGroup(target)
    const held = this.world.findTarget(target)
    if (!held) {
      if (!target.namespace) throw noGroup(target.group ?? '')
      const parent = parentOf(target)
      if (parent && !this.world.findTarget(parent)) throw missing(parent, behavior)
      return { status: 204 }
    }
    behavior.checkRemove?.(held, this.world)
    if (behavior.remove.polling) held.phase = 'deleting'
    return this.#begun(held, behavior, behavior.remove, apiVersion, request, () => this.world.remove(held.id))
  }

  #act(target: Target, behavior: Behavior): ArmAnswer {
    this.#requireGroup(target)
    const held = this.#seen(target, behavior)
    if (!held) throw missing(target, behavior)
    const action = (target.action ?? '').toLowerCase()
    if (action !== 'listkeys' && action !== 'regeneratekey') {
      throw new Problem(404, 'InvalidResourceType', `The action '${target.action}' is not known for '${held.type}'.`)
    }
    const keyOf = (name: string) => fact(held.facts, name, () => randomBytes(32).toString('base64'))
    if (held.type === 'Microsoft.Cache/Redis') {
      return { status: 200, body: { primaryKey: keyOf('key1'), secondaryKey: keyOf('key2') } }
    }
    const creationTime = new Date(held.createdAt).toISOString()
    const keys = ['key1', 'key2'].map((keyName) => ({
      creationTime,
      keyName,
      value: keyOf(keyName),
      permissions: 'FULL',
    }))
    return { status: 200, body: { keys } }
  }

  #begun(
    resource: Stored,
    behavior: Behavior,
    answer: Answer,
    apiVersion: string,
    { origin }: ArmRequest,
    complete: () => void,
  ): ArmAnswer {
    const { polling } = answer
    if (!polling) {
      const shown = answer.body === 'resource' ? { body: this.#show(resource, behavior, apiVersion) } : {}
      complete()
      return { status: answer.status, ...shown, ...(answer.body === 'empty' ? { body: {} } : {}) }
    }
    const operation = this.world.begin({ resource, polling, apiVersion, complete })
    const body =
      answer.body === 'resource'
        ? this.#show(resource, behavior, apiVersion)
        : answer.body === 'operation'
          ? { operation: polling.operation, startTime: new Date(operation.startedAt).toISOString() }
          : answer.body === 'empty'
            ? {}
            : undefined
    return { status: answer.status, headers: this.#links(operation, origin, polling.retryAfter), body }
  }

  #links({ statusPath, resultPath, apiVersion, polling }: Operation, origin: string, seconds: number | undefined) {
    const query = `?${polling.final === 'resource' ? 'monitor=true&' : ''}api-version=${apiVersion}`
    return {
      ...(statusPath ? { 'Azure-AsyncOperation': `${origin}${statusPath}${query}` } : {}),
      ...(resultPath ? { Location: `${origin}${resultPath}${query}` } : {}),
      ...this.#later(seconds),
    }
  }

  #later(seconds: number | undefined): Readonly<Record<string, string>> {
    return seconds === undefined ? {} : { 'Retry-After': String(this.#retryAfter ?? seconds) }
  }

  #result({ polling, resource, apiVersion }: Operation): ArmAnswer {
    if (polling.final === 'none') return { status: 200 }
    const behavior = behaviorOf(resource.type)
    const held = this.world.find(resource.id)
    if (polling.final !== 'resource' || !behavior || !held) return { status: 204 }
    return { status: 200, body: this.#show(held, behavior, apiVersion) }
  }

  #poll(operation: Operation, { path, origin }: ArmRequest): ArmAnswer {
    const { polling, finished } = operation
    const seconds = polling.pollAfter ?? polling.retryAfter
    const under = () => ({ status: 202, headers: this.#links(operation, origin, seconds) })
    if (path.toLowerCase() === operation.resultPath?.toLowerCase()) return finished ? this.#result(operation) : under()
    const status = finished ? 'Succeeded' : 'InProgress'
    const startTime = new Date(operation.startedAt).toISOString()
    const body = polling.detailed ? { name: operation.id, status, startTime } : { status }
    if (!finished && polling.accepted) return { ...under(), body }
    return { status: 200, headers: finished && !polling.detailed ? {} : this.#later(seconds), body }
  }

  #stored(target: Target, location: string, body: Values, etag: string | undefined, behavior: Behavior): Stored {
    return {
      target: behavior.singleton ? { ...target, names: [...target.names.slice(0, -1), behavior.singleton] } : target,
      id: idOf(target),
      type: typeOf(target),
      location: shortLocation(location),
      body,
      facts: {},
      createdAt: this.world.now,
      etag: etag ?? randomUUID(),
      phase: 'ready',
      operation: undefined,
    }
  }

  #show(resource: Stored, behavior: Behavior, apiVersion: string): Values {
    const { target, location, body } = resource
    const lower = (id: string) => (behavior.lowerGroup ? id.replace('/resourceGroups/', '/resourcegroups/') : id)
    const tags = body['tags'] ?? (behavior.tags === 'always' ? {} : undefined)
    const where = { short: location, display: displayLocation(location), parent: location }[
      behavior.location ?? 'short'
    ]
    return defined({
      id: lower(idOf(target)),
      name: lastName(target),
      type: resource.type,
      ...(behavior.location ? { location: where } : {}),
      tags,
      ...behavior.show(resource, this.world, apiVersion),
    })
  }

  #requireGroup({ subscription, group }: Target): void {
    if (group && !this.world.find(`/subscriptions/${subscription}/resourceGroups/${group}`)) throw noGroup(group)
  }

  #requireParent(target: Target, what: string): void {
    const parent = parentOf(target)
    if (!parent) return
    const behavior = behaviorOf(typeOf(parent))
    const held = behavior && this.#seen(parent, behavior)
    if (held) return
    const types = target.types.join('/')
    throw new Problem(
      404,
      'ParentResourceNotFound',
      `Failed to perform '${what}' on resource(s) of type '${types}', because the parent resource '${idOf(parent)}' could not be found.`,
    )
  }
}

const begunPath = ({ operation }: Stored): string | undefined => operation?.statusPath ?? operation?.resultPath

/** Throws what Azure answers to a namespace or a type that does not exist. */
function knownBehavior(target: Target, apiVersion: string): Behavior {
  if (target.namespace && !isNamespace(target.namespace)) {
    throw new Problem(404, 'InvalidResourceNamespace', `The resource namespace '${target.namespace}' is invalid.`)
  }
  const behavior = behaviorOf(typeOf(target))
  if (behavior) return behavior
  throw new Problem(
    404,
    'InvalidResourceType',
    `The resource type '${target.types.join('/')}' could not be found in the namespace '${target.namespace}' for api version '${apiVersion}'.`,
  )
}

function versionOf(query: URLSearchParams): string {
  const version = query.get('api-version')
  if (!version) {
    throw badRequest(
      'MissingApiVersionParameter',
      'The api-version query parameter (?api-version=) is required for all requests.',
    )
  }
  if (!VERSION.test(version)) {
    throw badRequest('InvalidApiVersionParameter', `The api-version '${version}' is invalid.`)
  }
  return version
}

function missing(target: Target, { missing: style }: Behavior): Problem {
  if (!target.namespace) return noGroup(target.group ?? '')
  const type = typeOf(target)
  if (style === 'provider') {
    return new Problem(
      404,
      'ResourceNotFound',
      `The requested resource of type '${type}' with name '${lastName(target)}' was not found.`,
    )
  }
  if (style === 'empty') return new Problem(404, '', '')
  const path = target.types.map((each, i) => `${each}/${target.names[i] ?? ''}`).join('/')
  return new Problem(
    404,
    'ResourceNotFound',
    `The Resource '${target.namespace}/${path}' under resource group '${target.group}' was not found. For more details please go to https://aka.ms/ARMResourceNotFoundFix`,
  )
}

function checkName(target: Target, body: Values): void {
  const name = lastName(target)
  const given = textOf(body['name'])
  if (given !== undefined && given.toLowerCase() !== name.toLowerCase()) {
    throw badRequest('InvalidRequestContent', `The name '${given}' in the body is not the name '${name}' in the path.`)
  }
  if (!target.namespace && !/^[-\w.()]{0,89}[-\w()]$/.test(name)) {
    throw badRequest(
      'InvalidResourceGroup',
      `The provided resource group name '${name}' has these invalid characters or is too long.`,
    )
  }
}

function checkLocation(type: string, behavior: Behavior, body: Values, held: Stored | undefined): void {
  const location = textOf(body['location'])
  if (location === undefined || location === 'global') return
  if (!isLocation(location)) {
    const group = type === 'Microsoft.Resources/resourceGroups'
    const what = group ? 'resource group' : `resource type '${type}'`
    throw badRequest(
      group ? 'LocationNotAvailableForResourceGroup' : 'LocationNotAvailableForResourceType',
      `The provided location '${location}' is not available for ${what}. List of available regions is '${locationNames.join(',')}'.`,
    )
  }
  if (!behavior.location || !held || shortLocation(location) === held.location) return
  throw conflict(
    'InvalidResourceLocation',
    `The resource '${lastName(held.target)}' already exists in location '${held.location}'. A resource with the same name cannot be created in location '${location}'.`,
  )
}

const TAGS_MAX = 50

function checkTags(body: Values): void {
  const tags = Object.keys(valuesOf(body['tags']))
  if (tags.length > TAGS_MAX)
    throw badRequest('TooManyTags', `A resource may have ${TAGS_MAX} tags, not ${tags.length}.`)
  const bad = tags.find((tag) => /[<>%&\\?/]/.test(tag))
  if (bad !== undefined) {
    throw badRequest(
      'InvalidTagNameCharacters',
      `The tag names '${bad}' have reserved characters '<,>,%,&,\\,?,/' or control characters.`,
    )
  }
  if (listOf(body['tags']).length > 0) throw badRequest('InvalidRequestContent', 'Tags are an object.')
}
