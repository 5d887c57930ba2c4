import { GoogleEmulator } from '../emulator/index.js'
import type { Exchange } from './recordings.js'

export interface Rate {
  statuses: number
  matchedStatuses: number
  fields: number
  matchedFields: number
  /** Fields whose value is the same too. */
  equalFields: number
  readonly misses: string[]
}

type Json = unknown

/** The pause between two requests of a session: longer than any operation. */
const PAUSE_MS = 60 * 60_000

/** Values that only the real cloud knows. The emulator has others of the same form. */
const opaque =
  /(^|\.)(etag|fingerprint|labelFingerprint|id|uniqueId|oauth2ClientId|targetId|generation|settingsVersion)$/

/** Replays a recorded session against a new emulator and compares the responses. */
export function replay(exchanges: readonly Exchange[]): Rate {
  let now = Date.parse('2026-01-01T00:00:00Z')
  const emulator = new GoogleEmulator({ now: () => now, operationMs: 1_000, consistencyMs: 0 })
  const names = new Names()
  const rate: Rate = { statuses: 0, matchedStatuses: 0, fields: 0, matchedFields: 0, equalFields: 0, misses: [] }
  for (const { http, host, url, body, status, answer } of exchanges) {
    now += PAUSE_MS
    const actual = emulator.handle({ http, host, url: names.fill(url), body: names.fillBody(body) })
    const at = `${http} ${url.replace(/\?.*/, '')}`
    rate.statuses++
    if (actual.status === status) rate.matchedStatuses++
    else
      rate.misses.push(
        `${at}: status ${actual.status} instead of ${status}: ${JSON.stringify(actual.body)?.slice(0, 200)}`,
      )
    if (answer === '') continue
    const recorded: Json = JSON.parse(answer)
    names.learn(recorded, actual.body, '')
    compare(recorded, actual.body, '', rate, names, at)
  }
  return rate
}

/** Placeholders and opaque values of a recording, and what the emulator has instead. */
class Names {
  readonly #known = new Map<string, string>([
    ['projectId', 'example-project'],
    ['projectNumber', '123456789012'],
  ])
  /** Values that the recording replaced by one and the same text: the latest one counts. */
  readonly #values = new Map<string, string>()

  fill(text: string): string {
    const filled = text.replace(/\$\{(\w+)\}/g, (_, name: string) => {
      const known = this.#known.get(name)
      if (known !== undefined) return known
      const invented = name
        .toLowerCase()
        .replace(/[^a-z0-9]/g, '')
        .slice(0, 12)
      this.#known.set(name, invented)
      return invented
    })
    return this.#replaced(filled)
  }

  fillBody(text: string): string {
    return this.fill(text)
  }

  #replaced(text: string): string {
    let result = text
    for (const [from, to] of this.#values) result = result.replaceAll(from, to)
    return result
  }

  /** Takes over values from responses: placeholders, fingerprints, names that the cloud chose. */
  learn(recorded: Json, actual: Json, path: string): void {
    if (typeof recorded === 'string' && typeof actual === 'string') this.#learnText(recorded, actual, path)
    if (typeof recorded !== 'object' || recorded === null || typeof actual !== 'object' || actual === null) return
    for (const [key, value] of Object.entries(recorded)) {
      this.learn(value, (actual as Record<string, unknown>)[key], Array.isArray(recorded) ? path : `${path}.${key}`)
    }
  }

  #learnText(recorded: string, actual: string, path: string): void {
    const placeholder = /^(.*?)\$\{(\w+)\}$/s.exec(recorded)
    if (placeholder) {
      const [, before = '', name = ''] = placeholder
      const prefix = this.fill(before)
      const isOperation = name === 'operationID'
      if ((isOperation || !this.#known.has(name)) && actual.startsWith(prefix))
        this.#known.set(name, actual.slice(prefix.length))
      return
    }
    if (opaque.test(path) && recorded !== actual && recorded.length > 2) this.#values.set(recorded, actual)
    // A name that the cloud chose is part of later requests: that of an instance group.
    if (/instanceGroupManagers\//.test(recorded)) {
      const [from, to] = [recorded, actual].map((link) => link.split('/').at(-1) ?? '')
      if (from && to && from.endsWith('-grp')) this.#values.set(this.fill(from), to)
    }
  }

  /** Whether the emulator's value is what the recording's stands for. */
  same(recorded: Json, actual: Json, path: string): boolean {
    if (recorded === actual) return true
    if (typeof recorded !== 'string' || typeof actual !== 'string') return false
    if (opaque.test(path) || /^\d{4}-\d\d-\d\dT/.test(recorded)) return true
    if (/\$\{(operationID|publicEndpointIPV4|privateEndpointIPV4)\}/.test(recorded)) return true
    return this.fill(recorded) === actual || this.#replaced(this.fill(recorded)) === actual
  }
}

function compare(recorded: Json, actual: Json, path: string, rate: Rate, names: Names, at: string): void {
  if (typeof recorded === 'object' && recorded !== null && Object.keys(recorded).length > 0) {
    for (const [key, value] of Object.entries(recorded)) {
      const inner = typeof actual === 'object' && actual !== null ? (actual as Record<string, unknown>)[key] : undefined
      compare(value, inner, `${path}.${key}`, rate, names, at)
    }
    return
  }
  rate.fields++
  if (actual === undefined) {
    rate.misses.push(`${at}: no field ${path.slice(1)}, recorded ${JSON.stringify(recorded)}`)
    return
  }
  rate.matchedFields++
  if (typeof recorded === 'object' || names.same(recorded, actual, path)) rate.equalFields++
  else rate.misses.push(`${at}: ${path.slice(1)} is ${JSON.stringify(actual)} instead of ${JSON.stringify(recorded)}`)
}
