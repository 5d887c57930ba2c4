import { oneLine, type Paint, paintState, widthOf } from './terminal.js'

/** Formats rows as columns with two spaces between them. */
export function table(rows: readonly (readonly string[])[]): readonly string[] {
  const shown = rows.map((row) => row.map(oneLine))
  const widths = shown[0]?.map((_, column) => Math.max(...shown.map((row) => widthOf(row[column] ?? '')))) ?? []
  return shown.map((row) =>
    row
      .map((cell, column) => (column < row.length - 1 ? cell + ' '.repeat(widths[column]! + 2 - widthOf(cell)) : cell))
      .join('')
      .trimEnd(),
  )
}

/** Formats rows with a heading and colored states. */
export function painted(paint: Paint, rows: readonly (readonly string[])[]): readonly (readonly string[])[] {
  return rows.map((row, i) => row.map((cell) => (i === 0 ? paint.bold(cell) : paintState(paint, cell))))
}
