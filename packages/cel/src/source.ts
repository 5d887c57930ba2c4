/** The start of a node: an offset into the source text in UTF-16 units. -1 means unknown. */
export type Offset = number

/** The offset of a node without a position. */
export const nowhere: Offset = -1

/** One error in an expression. */
export interface Issue {
  readonly offset: Offset
  readonly message: string
}

const issuesMax = 100
const snippetBytesMax = 16384

interface Location {
  readonly line: number
  readonly column: number
}

function locate(text: string, offset: Offset): Location {
  if (offset < 0) return { line: -1, column: -1 }
  let line = 1
  let start = 0
  for (let i = text.indexOf('\n'); i >= 0 && i < offset; i = text.indexOf('\n', i + 1)) {
    line++
    start = i + 1
  }
  return { line, column: [...text.slice(start, offset)].length }
}

function displayIssue(text: string, issue: Issue, at: Location): string {
  if (text === '') return `ERROR: <input>:1:0: ${issue.message}`
  const head = `ERROR: <input>:${at.line}:${at.column + 1}: ${issue.message}`
  const line = at.line < 1 ? undefined : text.split('\n')[at.line - 1]
  if (line === undefined || Buffer.byteLength(line) > snippetBytesMax) return head
  const characters = [...line.replaceAll('\t', ' ')]
  const wide = (c: string | undefined) => c !== undefined && c.codePointAt(0)! > 0x7f
  let marks = ''
  for (let i = 0; i < at.column && i < characters.length; i++) marks += wide(characters[i]) ? '\uff0e' : '.'
  marks += wide(characters[at.column]) ? '\uff3e' : '^'
  return `${head}\n | ${characters.join('')}\n | ${marks}`
}

/**
 * Returns the message for an expression that does not compile, as kube-apiserver prints it: every issue with its
 * line and a caret.
 */
export function displayIssues(text: string, issues: readonly Issue[]): string {
  const located = issues.slice(0, issuesMax).map((issue) => ({ issue, at: locate(text, issue.offset) }))
  located.sort((a, b) => a.at.line - b.at.line || a.at.column - b.at.column)
  const lines = located.map(({ issue, at }) => displayIssue(text, issue, at))
  if (issues.length > issuesMax) lines.push(`${issues.length - issuesMax} more errors were truncated`)
  return lines.join('\n')
}
