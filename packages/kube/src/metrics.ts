/**
 * Counters, gauges and histograms in Prometheus' text format. Small on purpose:
 * every request passes here, and a metric with its labels bound is one addition.
 */
export class Metrics {
  readonly #families = new Map<string, Family>()
  readonly #collectors = new Set<() => void>()

  counter(name: string, help: string, labels: readonly string[] = []): Family {
    return this.#family(name, help, 'counter', labels)
  }

  gauge(name: string, help: string, labels: readonly string[] = []): Family {
    return this.#family(name, help, 'gauge', labels)
  }

  histogram(name: string, help: string, labels: readonly string[], buckets: readonly number[]): Family {
    return this.#family(name, help, 'histogram', labels, buckets)
  }

  /** Called before every exposition, for values that are only worth computing when somebody looks. Returns how to stop that. */
  onCollect(collect: () => void): () => void {
    this.#collectors.add(collect)
    return () => this.#collectors.delete(collect)
  }

  /** What `/metrics` answers. */
  expose(): string {
    for (const collect of this.#collectors) collect()
    return [...this.#families.values()].map((family) => family.expose()).join('')
  }

  #family(name: string, help: string, type: Type, labels: readonly string[], buckets: readonly number[] = []): Family {
    const known = this.#families.get(name)
    if (known) return known
    const family = new Family(name, help, type, labels, buckets)
    this.#families.set(name, family)
    return family
  }
}

type Type = 'counter' | 'gauge' | 'histogram'

export class Family {
  readonly #name: string
  readonly #help: string
  readonly #type: Type
  readonly #labels: readonly string[]
  readonly #buckets: readonly number[]
  readonly #series = new Map<string, Series>()

  constructor(name: string, help: string, type: Type, labels: readonly string[], buckets: readonly number[]) {
    this.#name = name
    this.#help = help
    this.#type = type
    this.#labels = labels
    this.#buckets = buckets
  }

  /** The series of these label values, in the order the labels were declared. Keep it where it is used often. */
  with(...values: readonly string[]): Series {
    const key = values.join('\u0000')
    let series = this.#series.get(key)
    if (!series) {
      series = new Series(values, this.#buckets)
      this.#series.set(key, series)
    }
    return series
  }

  /** Forgets all series, for gauges that are computed afresh. */
  clear(): void {
    this.#series.clear()
  }

  expose(): string {
    if (this.#series.size === 0) return ''
    const lines = [`# HELP ${this.#name} ${escapeHelp(this.#help)}`, `# TYPE ${this.#name} ${this.#type}`]
    for (const series of this.#series.values()) {
      if (this.#type === 'histogram') this.#exposeHistogram(series, lines)
      else lines.push(`${this.#name}${this.#labelText(series.values)} ${series.value}`)
    }
    return `${lines.join('\n')}\n`
  }

  #exposeHistogram({ values, counts, value, count }: Series, lines: string[]): void {
    let below = 0
    this.#buckets.forEach((bound, i) => {
      below += counts[i]!
      lines.push(`${this.#name}_bucket${this.#labelText(values, String(bound))} ${below}`)
    })
    lines.push(`${this.#name}_bucket${this.#labelText(values, '+Inf')} ${count}`)
    lines.push(`${this.#name}_sum${this.#labelText(values)} ${value}`)
    lines.push(`${this.#name}_count${this.#labelText(values)} ${count}`)
  }

  #labelText(values: readonly string[], le?: string): string {
    const pairs = this.#labels.map((label, i) => `${label}="${escapeLabel(values[i] ?? '')}"`)
    if (le !== undefined) pairs.push(`le="${le}"`)
    return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
  }
}

export class Series {
  readonly values: readonly string[]
  readonly counts: number[]
  readonly #buckets: readonly number[]
  /** The counter's or gauge's value; a histogram's sum. */
  value = 0
  /** How many a histogram has seen. */
  count = 0

  constructor(values: readonly string[], buckets: readonly number[]) {
    this.values = values
    this.#buckets = buckets
    this.counts = buckets.map(() => 0)
  }

  inc(by = 1): void {
    this.value += by
  }

  set(value: number): void {
    this.value = value
  }

  observe(value: number): void {
    this.value += value
    this.count++
    for (let i = 0; i < this.#buckets.length; i++) {
      if (value > this.#buckets[i]!) continue
      this.counts[i]!++
      return
    }
  }
}

const escapeHelp = (text: string) => text.replace(/\\/g, '\\\\').replace(/\n/g, '\\n')
const escapeLabel = (text: string) => escapeHelp(text).replace(/"/g, '\\"')
