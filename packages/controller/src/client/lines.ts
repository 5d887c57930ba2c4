import type { Readable } from 'node:stream'

const LINE_FEED = 0x0a
/** Larger than any object. Bounds the memory that a server can occupy with a line that never ends. */
const LINE_MAX = 64 * 1024 * 1024

/**
 * Splits a stream into lines, regardless of chunk boundaries. Applies back-pressure: it reads no faster than lines
 * are consumed. An unterminated last line is dropped because it is incomplete.
 */
export async function* linesOf(stream: Readable): AsyncGenerator<string> {
  let begun: Buffer[] = []
  let length = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let from = 0
    for (let to = chunk.indexOf(LINE_FEED); to >= 0; to = chunk.indexOf(LINE_FEED, from)) {
      const end = chunk.subarray(from, to)
      from = to + 1
      const line = begun.length === 0 ? end : Buffer.concat([...begun, end])
      begun = []
      length = 0
      if (line.length > 0) yield line.toString('utf8')
    }
    if (from === chunk.length) continue
    begun.push(from === 0 ? chunk : chunk.subarray(from))
    length += chunk.length - from
    if (length > LINE_MAX) throw new Error(`a line is longer than ${LINE_MAX} bytes`)
  }
}
