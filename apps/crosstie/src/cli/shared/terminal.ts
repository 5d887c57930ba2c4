type Environment = Readonly<Record<string, string | undefined>>

/** What is written to. */
export interface Sink {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** Colours; where nobody would see them, the text as it is. */
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

/** Colours are for terminals, unless NO_COLOR or FORCE_COLOR says otherwise. */
export function hasColours({ isTTY = false }: Pick<Sink, 'isTTY'>, env: Environment = process.env): boolean {
  if (env['NO_COLOR']) return false
  if (env['FORCE_COLOR'] && env['FORCE_COLOR'] !== '0') return true
  return isTTY && env['TERM'] !== 'dumb'
}

export function paintFor(colours: boolean): Paint {
  const paint = Object.entries(codes).map(([name, [on, off]]) => [
    name,
    colours ? (text: string) => (text === '' ? '' : `\x1b[${on}m${text}\x1b[${off}m`) : (text: string) => text,
  ])
  return Object.fromEntries(paint) as Paint
}

export const plain: Paint = paintFor(false)

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what colours begin with.
const COLOUR = /\x1b\[\d+m/g

export const withoutColours = (text: string): string => text.replace(COLOUR, '')

/** How many columns it takes on a terminal. */
export const widthOf = (text: string): number => [...withoutColours(text)].length

/** Cut to so many columns, with an ellipsis. Only for text without colours. */
export function shortened(text: string, width: number): string {
  const letters = [...text]
  return letters.length <= width ? text : `${letters.slice(0, Math.max(0, width - 1)).join('')}…`
}

/** Green for what is well, red for what is not, yellow for what nobody knows yet. */
export function paintState(paint: Paint, text: string): string {
  if (/^(True|Bound|Ready|Established|Active|Available)$/.test(text)) return paint.green(text)
  if (/^(False|Failed|Released|Terminating)$/.test(text)) return paint.red(text)
  if (/^(Unknown|Unbound|Unbindable|Pending|Creating|Deleting)$/.test(text)) return paint.yellow(text)
  return text
}
