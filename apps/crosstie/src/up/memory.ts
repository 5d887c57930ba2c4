import { getHeapStatistics, setFlagsFromString } from 'node:v8'

/** Up to here a collection is a matter of milliseconds. */
const SMALL_HEAP_BYTES = 64 << 20
const LOOK_EVERY_MS = 1_000

/** So much may a small heap grow, in percent, before it is collected; 0 leaves that to V8. */
const TIGHT = 40
const AS_V8_LIKES = 0

/**
 * V8 makes room as if there were nothing else on the machine. Its space for new
 * objects stays as it begins (a third less memory with 10,000 objects, for a
 * twentieth more CPU), and a small heap is collected early; a large one would be
 * collected too often that way.
 */
export function keepMemorySmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  let percent = -1
  const look = () => {
    const wanted = getHeapStatistics().used_heap_size < SMALL_HEAP_BYTES ? TIGHT : AS_V8_LIKES
    if (wanted === percent) return
    percent = wanted
    setFlagsFromString(`--heap-growing-percent=${percent}`)
  }
  look()
  setInterval(look, LOOK_EVERY_MS).unref()
}
