import { randomUUID } from 'node:crypto'
import { listOf, merged, textOf, type Values, valuesOf } from '../values.js'
import { badRequest, Problem } from './problem.js'

type Relation = 'members' | 'owners'

interface Group {
  readonly id: string
  body: Values
  /** By relation: the ids, with the time from which reads see them, and the time from which they do not. */
  readonly related: Readonly<Record<Relation, Map<string, { from: number; until?: number }>>>
  readonly visibleAt: number
}

export interface GraphRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly body: unknown
}

const FIELDS = new Set([
  'displayName',
  'description',
  'mailEnabled',
  'mailNickname',
  'securityEnabled',
  'groupTypes',
  'visibility',
  'isAssignableToRole',
  'membershipRule',
  'membershipRuleProcessingState',
  'classification',
  'preferredDataLocation',
  'preferredLanguage',
  'theme',
  'members@odata.bind',
  'owners@odata.bind',
  'uniqueName',
])

/** Groups of Microsoft Graph. Changes are seen a while after they were accepted. */
export class Graph {
  readonly #groups = new Map<string, Group>()
  readonly #now: () => number
  readonly #consistencyMs: number

  constructor(now: () => number, consistencyMs: number) {
    this.#now = now
    this.#consistencyMs = consistencyMs
  }

  /** Throws a Problem for requests that the service refuses. */
  answer({ method, path, query, body }: GraphRequest): { readonly status: number; readonly body?: unknown } {
    const words = path
      .replace(/^\/(v1\.0|beta)\//, '')
      .split('/')
      .map(decodeURIComponent)
    if (words[0] === 'directoryObjects' || words[0] === 'users' || words[0] === 'servicePrincipals') {
      return { status: 200, body: { id: words[1], '@odata.type': '#microsoft.graph.user' } }
    }
    if (words[0] !== 'groups') throw notFound(words.join('/'))
    const [, id, relation, member, ref] = words
    if (id === undefined) return method === 'POST' ? this.#create(valuesOf(body)) : this.#list(query)
    const group = this.#group(id)
    if (relation === undefined) return this.#one(method, group, valuesOf(body))
    if (relation !== 'members' && relation !== 'owners') throw notFound(relation)
    if (method === 'GET')
      return { status: 200, body: { value: this.#seen(group, relation).map((each) => ({ id: each })) } }
    if (method === 'POST') return this.#add(group, relation, valuesOf(body))
    if (method === 'DELETE' && ref === '$ref' && member) return this.#removeFrom(group, relation, member)
    throw new Problem(405, 'Request_BadRequest', `The method ${method} is not supported here.`)
  }

  #create(body: Values) {
    checkFields(body)
    for (const name of ['displayName', 'mailEnabled', 'mailNickname', 'securityEnabled']) {
      if (body[name] === undefined)
        throw badRequest('Request_BadRequest', `A value is required for property '${name}' of resource 'Group'.`)
    }
    const id = randomUUID()
    const bound = (relation: Relation) =>
      new Map(listOf(body[`${relation}@odata.bind`]).map((url) => [idIn(url), { from: this.#later() }]))
    const { 'members@odata.bind': _, 'owners@odata.bind': __, ...rest } = body
    const facts = {
      id,
      createdDateTime: new Date(this.#now()).toISOString(),
      description: null,
      groupTypes: [],
      visibility: null,
    }
    const group: Group = {
      id,
      body: { ...facts, ...rest },
      related: { members: bound('members'), owners: bound('owners') },
      visibleAt: this.#later(),
    }
    this.#groups.set(id, group)
    return {
      status: 201,
      body: { '@odata.context': 'https://graph.microsoft.com/v1.0/$metadata#groups/$entity', ...group.body },
    }
  }

  #list(query: URLSearchParams) {
    const wanted = /^(\w+) eq '((?:[^']|'')*)'$/.exec(query.get('$filter') ?? '')
    const value = wanted?.[2]?.replaceAll("''", "'")
    const all = [...this.#groups.values()].filter((group) => group.visibleAt <= this.#now()).map((group) => group.body)
    return { status: 200, body: { value: wanted ? all.filter((body) => body[wanted[1] ?? ''] === value) : all } }
  }

  #one(method: string, group: Group, body: Values) {
    if (method === 'GET') return { status: 200, body: group.body }
    if (method === 'DELETE') {
      this.#groups.delete(group.id)
      return { status: 204 }
    }
    checkFields(body)
    group.body = merged(group.body, body)
    return { status: 204 }
  }

  #add(group: Group, relation: Relation, body: Values) {
    const id = idIn(body['@odata.id'])
    const held = group.related[relation].get(id)
    if (held && held.until === undefined) {
      throw badRequest(
        'Request_BadRequest',
        "One or more added object references already exist for the following modified properties: 'members'.",
      )
    }
    group.related[relation].set(id, { from: this.#later() })
    return { status: 204 }
  }

  #removeFrom(group: Group, relation: Relation, id: string) {
    const held = group.related[relation].get(id)
    if (!held || held.until !== undefined) throw notFound(id)
    if (relation === 'owners' && this.#seen(group, 'owners').length === 1) {
      throw badRequest(
        'Request_BadRequest',
        'The group must have at least one owner, hence this owner cannot be removed.',
      )
    }
    held.until = this.#later()
    return { status: 204 }
  }

  #seen(group: Group, relation: Relation): readonly string[] {
    const now = this.#now()
    const entries = [...group.related[relation]]
    return entries
      .filter(([, { from, until }]) => from <= now && (until === undefined || until > now))
      .map(([id]) => id)
  }

  #group(id: string): Group {
    const group = this.#groups.get(id)
    if (!group || group.visibleAt > this.#now()) throw notFound(id)
    return group
  }

  #later(): number {
    return this.#now() + this.#consistencyMs
  }
}

const notFound = (what: string): Problem =>
  new Problem(
    404,
    'Request_ResourceNotFound',
    `Resource '${what}' does not exist or one of its queried reference-property objects are not present.`,
  )

const idIn = (url: unknown): string => textOf(url)?.split('/').at(-1) ?? ''

function checkFields(body: Values): void {
  const unknown = Object.keys(body).find((name) => !FIELDS.has(name))
  if (unknown !== undefined)
    throw badRequest('Request_BadRequest', `Property '${unknown}' does not exist on type 'microsoft.graph.group'.`)
}
