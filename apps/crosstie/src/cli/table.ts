/** Columns as wide as their widest cell, two spaces between, the last one as long as it is. */
export function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  return rows.map((row) =>
    row
      .map((cell, column) => (column < row.length - 1 ? cell.padEnd(widths[column]! + 2) : cell))
      .join('')
      .trimEnd(),
  )
}
