import { performance } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const LOOK_EVERY_MS = 250
/** While the program starts, V8 makes more room for new objects several times in such a while. */
const START_LOOK_EVERY_MS = 20
const START_MS = 1_000

/** For new objects: room for more saves hardly any work, room for less makes a lot. */
const YOUNG_BYTES = 8 << 20

/**
 * Below this what Node takes for itself is most of the memory, and collecting is
 * quick: old objects get half as much room again. Above it V8 chooses, up to four
 * times as much.
 */
const SMALL_HEAP_BYTES = 40 << 20
const SMALL_HEAP_GROWTH_PERCENT = 50
/** V8 reckons with that only from a full collection on, and its first may be long in coming: then it is made here. */
const FIRST_COLLECTION_BYTES = 18 << 20

/** The event loop is at rest when it works for less than this part of the time. */
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
 * V8 makes room for objects as if there were nothing else on the machine.
 *
 * Room for new ones stops growing early here: with 10,000 managed resources it
 * saves a quarter of the memory. V8 also takes the room away when there is little
 * work; then it grows back in one step, since collecting little and often is dear.
 * Room for old ones grows slowly while they are few.
 *
 * What the start and each burst of work leave behind V8 would keep until the next
 * one; here it is collected once the work is done.
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
  /** What old objects take. */
  readonly old: number
  /** All that V8 has taken for the heap. */
  readonly heap: number
}

/** Tells V8 how much room to make the next time that it makes some. */
function makeRoom(): Sizes {
  const spaces = getHeapSpaceStatistics()
  const young = spaces.find(({ space_name }) => space_name === 'new_space')!.space_size
  const old = spaces.find(({ space_name }) => space_name === 'old_space')!.space_used_size
  // Said each time: bin/bundle.js puts both back, or V8 would not take the code that it kept.
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
  /** What the heap took after the last collection. */
  #settled = 0

  look({ old, heap }: Sizes): void {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, this.#before)
    this.#before = now
    this.#settled = Math.min(this.#settled, heap)
    this.#resting = utilization < REST ? this.#resting + 1 : 0
    if (this.#worth(heap) && this.#resting >= RESTING_LOOKS[this.#collections]!) this.#atRest()
    else if (!this.#begun && old > FIRST_COLLECTION_BYTES) this.#collect()
  }

  #worth(heap: number): boolean {
    // A series that was begun is finished.
    return (this.#collections > 0 || heap > this.#settled * WORTH_FACTOR + WORTH_BYTES) && heap < HEAP_BYTES_MAX
  }

  #atRest(): void {
    this.#collect()
    this.#resting = 0
    this.#collections = (this.#collections + 1) % RESTING_LOOKS.length
    if (this.#collections === 0) this.#settled = process.memoryUsage().heapTotal
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
