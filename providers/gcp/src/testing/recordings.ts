import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Recorded sessions with the real cloud, which are not part of the repository. */
export const recordingsFolder = fileURLToPath(new URL('../../../../../shared/recordings/gcp', import.meta.url))

export interface Exchange {
  readonly http: string
  readonly host: string
  /** Path and query, with placeholders such as ${projectId}. */
  readonly url: string
  readonly body: string
  readonly status: number
  readonly answer: string
}

/** The names of the recordings; undefined when the folder does not exist. */
export function recordingNames(): readonly string[] | undefined {
  try {
    return readdirSync(recordingsFolder)
      .filter((name) => name.endsWith('.log'))
      .sort()
  } catch {
    return undefined
  }
}

/** The exchanges of a recording: a request and its response, separated by lines of `---`. */
export function readRecording(name: string): readonly Exchange[] {
  const text = readFileSync(join(recordingsFolder, name), 'utf8')
  return text.split(/\n---\n+/).flatMap(exchangeIn)
}

function exchangeIn(text: string): readonly Exchange[] {
  const answer = /^(\d{3}) [A-Z][^\n]*$/m.exec(text)
  const request = /^([A-Z]+) https:\/\/([^/\s]+)(\S*)/.exec(text.trimStart())
  if (!answer || !request) return []
  const [, http = '', host = '', url = ''] = request
  const [before, after] = [text.slice(0, answer.index), text.slice(answer.index)]
  return [{ http, host, url, body: bodyOf(before), status: Number(answer[1]), answer: bodyOf(after) }]
}

/** The text after the first empty line. */
function bodyOf(part: string): string {
  const at = part.trimStart().indexOf('\n\n')
  return at < 0 ? '' : part.trimStart().slice(at).trim()
}
