/**
 * A registry of counters, gauges and histograms in the text format of Prometheus. It is small on purpose: every
 * request updates it, and a metric with bound labels is one addition.
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

  /**
   * Registers a callback that runs before every exposition, for values that are expensive to keep up to date.
   * Returns a function that unregisters it.
   */
  onCollect(collect: () => void): () => void {
    this.#collectors.add(collect)
    return () => this.#collectors.delete(collect)
  }

  /** Returns the response body of `/metrics`. */
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

/** A metric with its series, one per combination of label values. */
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

  /**
   * Returns the series of label values, in the order of the declared labels. Keep the series where it is used
   * often.
   */
  with(...values: readonly string[]): Series {
    const key = values.join('\u0000')
    let series = this.#series.get(key)
    if (!series) {
      series = new Series(values, this.#buckets)
      this.#series.set(key, series)
    }
    return series
  }

  /** Removes all series, for gauges that are recomputed. */
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

/** One series of a metric. */
export class Series {
  readonly values: readonly string[]
  readonly counts: number[]
  readonly #buckets: readonly number[]
  /** The value of a counter or gauge, or the sum of a histogram. */
  value = 0
  /** The number of observations of a histogram. */
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
