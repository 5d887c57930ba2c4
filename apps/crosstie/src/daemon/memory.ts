import { performance } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const LOOK_EVERY_MS = 250
/** The interval of checks while the program starts, in milliseconds. */
const START_LOOK_EVERY_MS = 20
const START_MS = 1_000

/** The size of the young generation. More saves little work, less causes much. */
const YOUNG_BYTES = 8 << 20

/**
 * Below this what Node takes for itself is most of the memory, and collecting is
 * quick: old objects get half as much room again. Above it V8 chooses, up to four
 * times as much.
 */
const SMALL_HEAP_BYTES = 40 << 20
const SMALL_HEAP_GROWTH_PERCENT = 50
/** V8 applies the limit after its first full collection, which may be late. At this size it is started here. */
const FIRST_COLLECTION_BYTES = 18 << 20

/** The event loop is idle if it is busy for less than this share of the time. */
const REST = 0.05
/**
 * V8 gives memory back in steps: what one collection empties, the next returns, and room for new objects is given back
 * when there was little work for five seconds.
 */
const RESTING_LOOKS = [4, 4, 24]
/** Collecting stops the program, about a millisecond for a megabyte: not for little, and not for long. */
const WORTH_BYTES = 12 << 20
const WORTH_FACTOR = 1.3
const HEAP_BYTES_MAX = 256 << 20

/**
 * Limits the heap. By default V8 sizes it as if no other program ran on the machine.
 *
 * The young generation stops growing early: with 10,000 managed resources this saves a quarter of the memory. V8 also
 * shrinks it when there is little work; then it grows back in one step, since frequent small collections are expensive.
 * The old generation grows slowly while it is small.
 *
 * V8 would keep the garbage of the start and of each burst of work until the next one. Here it is collected when the
 * work is done.
 */
export function keepMemorySmall(): void {
  const collector = new RestCollector()
  const starting = setInterval(makeRoom, START_LOOK_EVERY_MS).unref()
  setTimeout(() => clearInterval(starting), START_MS).unref()
  const look = () => collector.look(makeRoom())
  look()
  setInterval(look, LOOK_EVERY_MS).unref()
}

interface Sizes {
  /** The size of the old generation. */
  readonly old: number
  /** The size of the whole heap. */
  readonly heap: number
}

/** Sets the growth of the heap for the next time that V8 extends it. */
function makeRoom(): Sizes {
  const spaces = getHeapSpaceStatistics()
  const young = spaces.find(({ space_name }) => space_name === 'new_space')!.space_size
  const old = spaces.find(({ space_name }) => space_name === 'old_space')!.space_used_size
  // Set each time: bin/bundle.js resets both flags, since V8 would otherwise reject its code cache.
  setFlagsFromString(`--semi-space-growth-factor=${Math.max(1, Math.floor(YOUNG_BYTES / young))}`)
  setFlagsFromString(`--heap-growing-percent=${old < SMALL_HEAP_BYTES ? SMALL_HEAP_GROWTH_PERCENT : 0}`)
  return { old, heap: spaces.reduce((sum, { space_size }) => sum + space_size, 0) }
}

/** Collects when the heap has grown and the work that it grew by has ended; the first time when the start has. */
class RestCollector {
  #before = performance.eventLoopUtilization()
  #resting = 0
  #collections = 0
  #begun = false
  /** The size of the heap after the last collection. */
  #collectedBytes = 0

  look({ old, heap }: Sizes): void {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, this.#before)
    this.#before = now
    this.#collectedBytes = Math.min(this.#collectedBytes, heap)
    this.#resting = utilization < REST ? this.#resting + 1 : 0
    if (this.#worth(heap) && this.#resting >= RESTING_LOOKS[this.#collections]!) this.#atRest()
    else if (!this.#begun && old > FIRST_COLLECTION_BYTES) this.#collect()
  }

  #worth(heap: number): boolean {
    // A series that was begun is finished.
    return (this.#collections > 0 || heap > this.#collectedBytes * WORTH_FACTOR + WORTH_BYTES) && heap < HEAP_BYTES_MAX
  }

  #atRest(): void {
    this.#collect()
    this.#resting = 0
    this.#collections = (this.#collections + 1) % RESTING_LOOKS.length
    if (this.#collections === 0) this.#collectedBytes = process.memoryUsage().heapTotal
  }

  #collect(): void {
    this.#begun = true
    collect()
  }
}

function collect(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  setFlagsFromString('--no-expose-gc')
}
