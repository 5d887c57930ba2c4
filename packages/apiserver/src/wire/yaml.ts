import { type Json, NESTING_MAX, StatusError, setOwn } from '@crosstie/kube'
import {
  type AliasEvent,
  EVENT_ALIAS,
  EVENT_DOCUMENT,
  EVENT_MAPPING,
  EVENT_POP,
  EVENT_SCALAR,
  EVENT_SEQUENCE,
  type Event,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE_PLAIN,
  type ScalarEvent,
  YAMLException,
} from 'js-yaml'
import { type DecodeOptions, decodeJson } from './json.js'
import { JsonSyntaxError } from './json-exact.js'
import { checkBodySize, checkYamlSize } from './limits.js'
import { resolvePlain } from './yaml-scalar.js'

export { encodeYaml } from './yaml-encode.js'

/** The body is not YAML, or has no JSON form. The message resembles that of go-yaml. */
export class YamlError extends JsonSyntaxError {
  override readonly name = 'YamlError'
}

/** A decoded YAML document. */
export interface DecodedYaml {
  readonly value: Json
  /** The complaints of strict decoding: duplicate keys. */
  readonly strictErrors: readonly string[]
}

/**
 * Decodes the first document as kube-apiserver does (sigs.k8s.io/yaml): YAML 1.1 scalars, anchors and merge keys
 * with limits, and keys converted to text. Throws a YamlError.
 */
export function decodeYaml(input: Uint8Array | string, options: DecodeOptions = {}): DecodedYaml {
  const text = typeof input === 'string' ? input : Buffer.from(input).toString('utf8')
  const json = decodeAsJson(text, options)
  if (json) return json
  if (options.limited) checkYamlSize(text)
  return new Decoder(firstDocument(text), options).decode()
}

/** Most YAML that programs send is JSON. The YAML decoder reports duplicate keys. */
function decodeAsJson(text: string, { limited }: DecodeOptions): DecodedYaml | undefined {
  if (!/^\s*\{/.test(text)) return undefined
  try {
    const { value, duplicates } = decodeJson(text, { strict: true, limited, attempt: true })
    return duplicates.length === 0 ? { value, strictErrors: [] } : undefined
  } catch (error) {
    if (error instanceof StatusError) throw error
    return undefined
  }
}

/** Ignores everything after the first document. */
function firstDocument(text: string): string {
  for (const mark of text.matchAll(/^(?:---|\.\.\.)(?=[ \t\r\n]|$)/gm)) {
    const before = text.slice(0, mark.index)
    const isStart = mark[0] === '---' && /^(?:[ \t]*(?:[#%][^\n]*)?(?:\r?\n|$))*$/.test(before)
    if (!isStart) return before
  }
  return text
}

/** The maximum number of complaints. Each costs a scan of the text. */
const COMPLAINTS_MAX = 100

class Decoder {
  readonly #text: string
  readonly #strict: boolean
  readonly #limited: boolean
  readonly #anchors = new Map<string, number>()
  /** The start positions of open sequences and mappings. */
  readonly #reading = new Set<number>()
  readonly #complaints: string[] = []
  #events: readonly Event[] = []
  #at = 0
  #decoded = 0
  #fields = 0
  #elements = 0
  #aliased = 0
  #aliasDepth = 0
  /** The nesting depth. Aliases can nest deeper than the text. */
  #depth = 0

  constructor(text: string, { strict = false, limited = false }: DecodeOptions) {
    this.#text = text
    this.#strict = strict
    this.#limited = limited
  }

  decode(): DecodedYaml {
    this.#events = this.#parse()
    if (this.#events[0]?.type === EVENT_DOCUMENT) this.#at = 1
    const first = this.#events[this.#at]
    const value = first === undefined || first.type === EVENT_POP ? null : this.#value()
    const list = this.#complaints.map((text) => `  ${text}`).join('\n')
    return { value, strictErrors: list === '' ? [] : [`yaml: unmarshal errors:\n${list}`] }
  }

  #parse(): readonly Event[] {
    try {
      return parseEvents(this.#text, { maxDepth: NESTING_MAX })
    } catch (error) {
      if (!(error instanceof YAMLException)) throw error
      if (error.reason.includes('maxDepth')) throw tooDeep()
      throw new YamlError(`yaml: line ${(error.mark?.line ?? 0) + 1}: ${goWords[error.reason] ?? error.reason}`)
    }
  }

  /** Returns the node at the cursor and moves behind it. */
  #value(): Json {
    this.#count()
    const event = this.#events[this.#at]!
    this.#remember(event)
    this.#at++
    switch (event.type) {
      case EVENT_SCALAR:
        return this.#scalar(event)
      case EVENT_ALIAS:
        return this.#follow(event, () => this.#value())
      case EVENT_SEQUENCE:
        return this.#sequence()
      case EVENT_MAPPING: {
        const mapping: Record<string, unknown> = {}
        this.#fill(mapping)
        return mapping as Json
      }
      default:
        throw new YamlError('yaml: did not find expected node content')
    }
  }

  /** Enters the sequence or mapping whose first event was just read. */
  #enter(): number {
    if (++this.#depth > NESTING_MAX) throw tooDeep()
    const start = this.#at - 1
    this.#reading.add(start)
    return start
  }

  #leave(start: number): void {
    this.#depth--
    this.#reading.delete(start)
    this.#at++
  }

  #remember(event: Event): void {
    if (event.type === EVENT_SCALAR || event.type === EVENT_SEQUENCE || event.type === EVENT_MAPPING) {
      if (event.anchorStart >= 0) this.#anchors.set(this.#text.slice(event.anchorStart, event.anchorEnd), this.#at)
    }
  }

  /** The limit of go-yaml for documents that grow by nested aliases. */
  #count(): void {
    this.#decoded++
    if (this.#aliasDepth > 0) this.#aliased++
    if (this.#aliased <= 100 || this.#decoded <= 1000) return
    if (this.#aliased / this.#decoded > allowedAliasRatio(this.#decoded)) {
      throw new YamlError('yaml: document contains excessive aliasing')
    }
  }

  #follow<T>(alias: AliasEvent, read: () => T): T {
    const name = this.#text.slice(alias.anchorStart, alias.anchorEnd)
    const target = this.#anchors.get(name)
    if (target === undefined) throw new YamlError(`yaml: unknown anchor '${name}' referenced`)
    if (this.#reading.has(target)) {
      throw new YamlError(`yaml: anchor '${name}' value contains itself`)
    }
    const back = this.#at
    this.#aliasDepth++
    this.#at = target
    const result = read()
    this.#aliasDepth--
    this.#at = back
    return result
  }

  #sequence(): Json {
    const items: Json[] = []
    const start = this.#enter()
    while (this.#events[this.#at]!.type !== EVENT_POP) {
      this.#elements++
      this.#checkSize(0, items.length)
      items.push(this.#value())
    }
    this.#leave(start)
    return items
  }

  #checkSize(keys: number, elements = 0): void {
    if (this.#limited) checkBodySize({ keys, elements, fields: this.#fields, values: this.#fields + this.#elements })
  }

  /** Reads pairs up to the mapping's end. */
  #fill(mapping: Record<string, unknown>): void {
    const start = this.#enter()
    let keys = 0
    while (this.#events[this.#at]!.type !== EVENT_POP) {
      this.#fields++
      this.#checkSize(++keys)
      if (this.#isMergeKey(this.#events[this.#at]!)) {
        this.#at++
        this.#merge(mapping)
        continue
      }
      const keyEvent = this.#events[this.#at]!
      const key = this.#value()
      if (key === null) throw new YamlError('unsupported map key of type: %!s(<nil>), key: <nil>')
      if (typeof key === 'object') throw new YamlError('yaml: invalid map key')
      const name = String(key)
      if (this.#strict && Object.hasOwn(mapping, name) && this.#complaints.length < COMPLAINTS_MAX) {
        const shown = typeof key === 'string' ? JSON.stringify(key) : name
        this.#complaints.push(
          `line ${this.#lineOf(this.#events[this.#at]!, keyEvent)}: key ${shown} already set in map`,
        )
      }
      setOwn(mapping, name, this.#value())
    }
    this.#leave(start)
  }

  #isMergeKey(event: Event): boolean {
    if (event.type !== EVENT_SCALAR || event.style !== SCALAR_STYLE_PLAIN || event.tagStart >= 0) return false
    return event.valueEnd - event.valueStart === 2 && this.#text.startsWith('<<', event.valueStart)
  }

  #merge(mapping: Record<string, unknown>): void {
    const event = this.#events[this.#at]!
    this.#remember(event)
    this.#at++
    if (event.type === EVENT_MAPPING) this.#fill(mapping)
    else if (event.type === EVENT_ALIAS) this.#follow(event, () => this.#mergeMapping(mapping))
    else if (event.type === EVENT_SEQUENCE) {
      const starts: number[] = []
      const list = this.#at - 1
      this.#reading.add(list)
      while (this.#events[this.#at]!.type !== EVENT_POP) {
        starts.push(this.#at)
        this.#value()
      }
      const end = this.#at + 1
      // Earlier entries win, so they are applied last.
      for (const start of starts.reverse()) {
        this.#at = start
        this.#mergeItem(mapping)
      }
      this.#reading.delete(list)
      this.#at = end
    } else throw mergeError()
  }

  #mergeItem(mapping: Record<string, unknown>): void {
    const event = this.#events[this.#at]!
    if (event.type !== EVENT_MAPPING && event.type !== EVENT_ALIAS) throw mergeError()
    this.#merge(mapping)
  }

  #mergeMapping(mapping: Record<string, unknown>): void {
    if (this.#events[this.#at]!.type !== EVENT_MAPPING) throw mergeError()
    this.#count()
    this.#at++
    this.#fill(mapping)
  }

  #scalar(event: ScalarEvent): Json {
    const value = this.#resolve(event, getScalarValue(this.#text, event))
    if (typeof value === 'number' && !Number.isFinite(value)) {
      const word = Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
      throw new YamlError(`json: unsupported value: ${word}`)
    }
    return value
  }

  #resolve({ tagStart, tagEnd, style }: ScalarEvent, text: string): Json {
    if (tagStart < 0) return style === SCALAR_STYLE_PLAIN ? resolvePlain(text) : text
    const tag = this.#text.slice(tagStart, tagEnd).replace(/^!<tag:yaml\.org,2002:(.*)>$/, '!!$1')
    switch (tag) {
      case '!!binary':
        return Buffer.from(text, 'base64').toString('utf8')
      case '!!int':
      case '!!float':
      case '!!bool':
      case '!!null':
        return tagged(tag, text)
      default:
        return text
    }
  }

  #lineOf(value: Event, key: Event): number {
    const start = startOf(value)
    const offset = start >= 0 ? start : startOf(key)
    let line = 1
    for (let i = this.#text.indexOf('\n'); i >= 0 && i < offset; i = this.#text.indexOf('\n', i + 1)) line++
    return line
  }
}

const tooDeep = (): YamlError => new YamlError(`yaml: exceeded max depth of ${NESTING_MAX}`)

const mergeError = (): YamlError => new YamlError('yaml: map merge requires map or sequence of maps as the value')

function startOf(event: Event): number {
  if (event.type === EVENT_SCALAR) return event.valueStart
  if (event.type === EVENT_ALIAS) return event.anchorStart
  return event.type === EVENT_MAPPING || event.type === EVENT_SEQUENCE ? event.start : -1
}

function tagged(tag: string, text: string): Json {
  const value = resolvePlain(text)
  const found = tagOf(value)
  if (found === tag || (tag === '!!float' && found === '!!int')) return value
  throw new YamlError(`yaml: cannot decode ${found} \`${text}\` as a ${tag}`)
}

function tagOf(value: Json): string {
  if (value === null) return '!!null'
  if (typeof value === 'boolean') return '!!bool'
  if (typeof value === 'string') return '!!str'
  return typeof value === 'bigint' || Number.isInteger(value) ? '!!int' : '!!float'
}

const RATIO_LOW = 400_000
const RATIO_HIGH = 4_000_000

function allowedAliasRatio(decoded: number): number {
  if (decoded <= RATIO_LOW) return 0.99
  if (decoded >= RATIO_HIGH) return 0.1
  return 0.99 - 0.89 * ((decoded - RATIO_LOW) / (RATIO_HIGH - RATIO_LOW))
}

/** Messages of go-yaml for errors that our parser words differently. Other errors keep the message of our parser. */
const goWords: Readonly<Record<string, string>> = {
  'unexpected end of the stream within a flow collection': 'did not find expected node content',
}
