const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
)

const escapes: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
}

const unescapes: Readonly<Record<string, string>> = { underscores: '__', dot: '.', dash: '-', slash: '/' }

/** Reports whether a name is a reserved word of the language. */
export function isReserved(name: string): boolean {
  return reserved.has(name)
}

/** Returns the name of a property as expressions write it, or undefined if expressions cannot name it. */
export function escapeName(name: string): string | undefined {
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined
  if (reserved.has(name)) return `__${name}__`
  return name.replace(/__|[./-]/g, (found) => escapes[found]!)
}

/** Returns the property that a name in an expression refers to, or undefined if the name is not valid. */
export function unescapeName(escaped: string): string | undefined {
  if (!escaped.includes('__')) return escaped
  let valid = true
  const name = escaped.replace(/__([^_]+)__/g, (found, contents: string) => {
    const plain = unescapes[contents]
    if (plain !== undefined) return plain
    valid &&= reserved.has(contents) && found.length === escaped.length
    return contents
  })
  return valid ? name : undefined
}
