import { randomBytes } from 'node:crypto'

type Environment = Readonly<Record<string, string | undefined>>

/** A stream that is written to. */
export interface Sink {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** Stands before our own colors until they are written. It is random, so that no text of others passes as ours. */
const OURS = `\ue001${randomBytes(8).toString('hex')}`

/** Colors. Without a terminal, the text is unchanged. */
export interface Paint {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly red: (text: string) => string
  readonly green: (text: string) => string
  readonly yellow: (text: string) => string
  readonly cyan: (text: string) => string
}

const codes: Readonly<Record<keyof Paint, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
}

/** Reports whether to use colors: on terminals, unless NO_COLOR or FORCE_COLOR is set. */
export function hasColors({ isTTY = false }: Pick<Sink, 'isTTY'>, env: Environment = process.env): boolean {
  if (env['NO_COLOR']) return false
  if (env['FORCE_COLOR'] && env['FORCE_COLOR'] !== '0') return true
  return isTTY && env['TERM'] !== 'dumb'
}

/** Returns colors, or plain text. */
export function paintFor(colors: boolean): Paint {
  const paint = Object.entries(codes).map(([name, [on, off]]) => [
    name,
    colors
      ? (text: string) => (text === '' ? '' : `${OURS}\x1b[${on}m${text}${OURS}\x1b[${off}m`)
      : (text: string) => text,
  ])
  return Object.fromEntries(paint) as Paint
}

/** Plain text. */
export const plain: Paint = paintFor(false)

const COLOR = new RegExp(`(?:${OURS})?\\x1b\\[\\d+m`, 'g')

/**
 * Text for a terminal. Only the colors of {@link paintFor} remain escape sequences. All other control characters
 * and the characters that reorder or hide text (bidi controls, zero-width characters) become visible, such as
 * `\x1b` and `\u202e`: objects may hold text of people who must not control the terminal of the reader.
 */
export const safeForTerminal = (text: string): string =>
  text.replace(UNSAFE, (found, color: string | undefined) => color ?? visible(found))

// Newlines and tabs stay: lines are ours to write. Cells of tables hold none, see table().
const UNSAFE = new RegExp(
  `${OURS}(\\x1b\\[\\d+m)|[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ufeff]`,
  'g',
)

const visible = (found: string): string =>
  [...found]
    .map((each) => {
      const code = each.charCodeAt(0)
      return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`
    })
    .join('')

/** Text of others for one line: what would begin another line becomes visible, too. */
export const oneLine = (text: string): string => text.replaceAll('\n', '\\n').replaceAll('\r', '\\r')

/** Removes colors. */
export const withoutColors = (text: string): string => text.replace(COLOR, '')

/** Returns the number of columns that a text takes. */
export const widthOf = (text: string): number => [...withoutColors(text)].length

/** Cuts a text to a number of columns, with an ellipsis. The text may not contain colors. */
export function shortened(text: string, width: number): string {
  const letters = [...text]
  return letters.length <= width ? text : `${letters.slice(0, Math.max(0, width - 1)).join('')}…`
}

/** Colors a state: green for good, red for bad, yellow for unknown. */
export function paintState(paint: Paint, text: string): string {
  if (/^(True|Bound|Ready|Established|Active|Available)$/.test(text)) return paint.green(text)
  if (/^(False|Failed|Released|Terminating)$/.test(text)) return paint.red(text)
  if (/^(Unknown|Unbound|Unbindable|Pending|Creating|Deleting)$/.test(text)) return paint.yellow(text)
  return text
}
