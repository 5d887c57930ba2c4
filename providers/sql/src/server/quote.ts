import pg from 'pg'

/** How long a name may be: PostgreSQL would cut a longer one without a word, and then never find it again. */
const NAME_BYTES = 63

/** A name as it stands in a statement, whatever it holds. Throws when PostgreSQL could not keep it. */
export function ident(name: string): string {
  const bytes = Buffer.byteLength(name)
  if (bytes === 0) throw new Error('a name of PostgreSQL cannot be empty')
  if (bytes > NAME_BYTES) {
    throw new Error(
      `the name ${JSON.stringify(name)} has ${bytes} bytes, and PostgreSQL keeps ${NAME_BYTES}: ` +
        'choose a shorter one with the annotation crossplane.io/external-name',
    )
  }
  return pg.escapeIdentifier(withoutNul(name))
}

/** A text as it stands in a statement, whatever it holds. */
export const literal = (text: string): string => pg.escapeLiteral(withoutNul(text))

/** Who gets a privilege: a role, or everybody. No role can be called `public`. */
export const grantee = (role: string): string => (isPublic(role) ? 'PUBLIC' : ident(role))

export const isPublic = (role: string): boolean => role.toLowerCase() === 'public'

/** The protocol ends a statement where the first NUL is: what is behind would be lost. */
function withoutNul(text: string): string {
  if (text.includes('\0')) throw new Error('PostgreSQL has no texts with a NUL character in them')
  return text
}

/** Parameters whose value is a list of names. Given as one text, they would be one name with commas in it. */
const lists = new Set([
  'local_preload_libraries',
  'oauth_validator_libraries',
  'search_path',
  'session_preload_libraries',
  'shared_preload_libraries',
  'temp_tablespaces',
  'unix_socket_directories',
])

/** `SET name TO value`, for a role or a database. */
export function setting(name: string, value: string): string {
  const parameter = name.split('.').map(ident).join('.')
  const values = lists.has(name.toLowerCase()) ? namesIn(value) : [value]
  return `SET ${parameter} TO ${values.length > 0 ? values.map(literal).join(', ') : "''"}`
}

/** Do two values of a parameter mean the same? The server writes lists in its own way. */
export function sameSetting(name: string, a: string, b: string): boolean {
  if (!lists.has(name.toLowerCase())) return a === b
  return JSON.stringify(namesIn(a)) === JSON.stringify(namesIn(b))
}

/** The names of a list: between commas, in quotes where they hold some. */
function namesIn(list: string): readonly string[] {
  const found = list.matchAll(/\s*(?:"((?:[^"]|"")*)"|([^,"]*))\s*(?:,|$)/g)
  return [...found]
    .map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain.trim().toLowerCase())
    .filter((name) => name !== '')
}
