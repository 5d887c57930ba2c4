import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { decodeYaml } from '@crosstie/apiserver/yaml'
import { AzureEmulator } from '@crosstie/provider-azure/emulator'

interface Interaction {
  readonly request: { readonly method: string; readonly url: string; readonly body?: string }
  readonly response: {
    readonly code: number
    readonly body?: string
    readonly headers?: Readonly<Record<string, readonly string[]>>
  }
}

interface Score {
  statuses: number
  statusesAlike: number
  fields: number
  fieldsAlike: number
  valuesAlike: number
  headers: number
  headersAlike: number
  readonly misses: string[]
}

const folder = fileURLToPath(new URL('../../../../../shared/recordings/azure', import.meta.url))
const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.yaml')) : []

if (files.length === 0) test('recorded sessions with Azure', { skip: `there are no recordings in ${folder}` })

for (const file of files) {
  test(`the emulator answers as Azure did: ${file}`, async (t) => {
    const score = await replay(join(folder, file))
    const rate = (alike: number, all: number) => (all === 0 ? 100 : (alike / all) * 100)
    const statuses = rate(score.statusesAlike, score.statuses)
    const fields = rate(score.fieldsAlike, score.fields)
    const shown = (value: number) => `${value.toFixed(1)} %`
    t.diagnostic(
      `${file}: status codes ${score.statusesAlike}/${score.statuses} (${shown(statuses)}), ` +
        `response fields ${score.fieldsAlike}/${score.fields} (${shown(fields)}), with equal values ${shown(rate(score.valuesAlike, score.fields))}, ` +
        `polling headers ${score.headersAlike}/${score.headers}`,
    )
    if (process.env['SHOW_MISSES']) for (const miss of score.misses) t.diagnostic(miss)
    assert.ok(statuses >= 95, `status codes: ${score.misses.join('\n')}`)
    assert.ok(fields >= 90, `response fields: ${score.misses.join('\n')}`)
  })
}

/** Replays each request in order. Time passes as in the recording: an operation ends at its last recorded poll. */
async function replay(path: string): Promise<Score> {
  const { value } = decodeYaml(readFileSync(path, 'utf8'), {})
  const { interactions } = value as unknown as { readonly interactions: readonly Interaction[] }
  let now = Date.parse('2026-01-01T00:00:00Z')
  await using emulator = await AzureEmulator.start({
    now: () => now,
    operationMs: 1e12,
    retryAfter: 'real',
    consistencyMs: 0,
  })
  const paths = new Map<string, string>()
  const score: Score = {
    statuses: 0,
    statusesAlike: 0,
    fields: 0,
    fieldsAlike: 0,
    valuesAlike: 0,
    headers: 0,
    headersAlike: 0,
    misses: [],
  }
  for (const [i, { request, response }] of interactions.entries()) {
    now += 1000
    // Failures of the network in front of the service are not part of its behavior.
    if (response.code >= 500) continue
    const url = new URL(request.url)
    const at = paths.get(url.pathname)
    if (at && isLast(interactions, i)) emulator.world.schedule(at, 0)
    const answer = await sent(`${emulator.url}${at ?? url.pathname}${url.search}`, request)
    await compare(score, `${i} ${request.method} ${url.pathname}`, response, answer)
    const begun = follow(response, answer, paths)
    // An operation that the session did not poll completes immediately.
    const isPolled = interactions.some(
      ({ request: later }, j) => j > i && begun.includes(paths.get(new URL(later.url).pathname) ?? ''),
    )
    if (!isPolled) for (const path of begun) emulator.world.schedule(path, 0)
  }
  return score
}

async function sent(url: string, { method, body }: Interaction['request']): Promise<Response> {
  const headers = { Authorization: 'Bearer replay', 'Content-Type': 'application/json' }
  return await fetch(url, { method, headers, ...(body ? { body } : {}) })
}

async function compare(score: Score, line: string, response: Interaction['response'], answer: Response): Promise<void> {
  const text = await answer.text()
  score.statuses++
  if (answer.status === response.code) score.statusesAlike++
  else score.misses.push(`${line}: ${answer.status} instead of ${response.code} ${text.slice(0, 200)}`)
  compareHeaders(score, line, response, answer)
  compareBodies(score, line, response.body ?? '', text)
}

const header = ({ headers = {} }: Interaction['response'], name: string): string | undefined =>
  Object.entries(headers).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1]?.[0]

/** Records the path of an operation in the emulator. Returns the paths of started operations. */
function follow(response: Interaction['response'], answer: Response, paths: Map<string, string>): readonly string[] {
  return ['Azure-AsyncOperation', 'Location'].flatMap((name) => {
    const [recorded, ours] = [header(response, name), answer.headers.get(name)]
    if (!ours) return []
    const path = new URL(ours).pathname
    if (recorded) paths.set(new URL(recorded).pathname, path)
    return [path]
  })
}

/** Reports whether this is the last recorded poll of the operation. */
function isLast(interactions: readonly Interaction[], i: number): boolean {
  const { response } = interactions[i]!
  if (response.code === 202) return false
  const { status } = (response.body?.startsWith('{') ? JSON.parse(response.body) : {}) as { status?: string }
  return status === undefined || !/^(InProgress|Running|Accepted|Pending)$/i.test(status)
}

function compareHeaders(score: Score, line: string, response: Interaction['response'], answer: Response): void {
  for (const name of ['Azure-AsyncOperation', 'Location', 'Retry-After']) {
    const [recorded, ours] = [header(response, name), answer.headers.get(name)]
    if (recorded === undefined && ours === null) continue
    score.headers++
    if (recorded !== undefined && ours !== null) score.headersAlike++
    else score.misses.push(`${line}: header ${name} is ${ours === null ? 'missing' : 'not in the recording'}`)
  }
}

function compareBodies(score: Score, line: string, recorded: string, ours: string): void {
  const [theirs, own] = [leaves(recorded), leaves(ours)]
  for (const path of new Set([...theirs.keys(), ...own.keys()])) {
    const [a, b] = [theirs.get(path), own.get(path)]
    score.fields++
    if (a !== undefined && b !== undefined && typeof a === typeof b) {
      score.fieldsAlike++
      if (normal(a) === normal(b)) score.valuesAlike++
      else if (process.env['SHOW_MISSES'] === 'values') score.misses.push(`${line}: ${path} is ${b} instead of ${a}`)
    } else score.misses.push(`${line}: field ${path} is ${a === undefined ? 'not in the recording' : 'missing'}`)
  }
}

/** Replaces identifiers and times, which differ in every session. */
function normal(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, 'id')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)/g, 'time')
    .replaceAll(/\/resourcegroups\//gi, '/resourceGroups/')
}

/** Returns the values of a body by their paths. Empty objects and lists are values. */
function leaves(text: string): ReadonlyMap<string, unknown> {
  const found = new Map<string, unknown>()
  const visit = (value: unknown, path: string): void => {
    const entries = value !== null && typeof value === 'object' ? Object.entries(value) : []
    if (entries.length === 0) found.set(path, value)
    for (const [name, inner] of entries) visit(inner, `${path}/${name.replace(/^\/subscriptions.*/i, 'id')}`)
  }
  if (/^[{[]/.test(text)) visit(JSON.parse(text), '')
  else if (text !== '') found.set('', text)
  return found
}
