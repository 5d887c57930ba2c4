import pg from 'pg'

/** The maximum length of a name. PostgreSQL would truncate a longer one, and it would not be found again. */
const NAME_BYTES = 63

/** Quotes a name. Throws if PostgreSQL cannot store it. */
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

/** Quotes a text. */
export const literal = (text: string): string => pg.escapeLiteral(withoutNul(text))

/** Returns the grantee of a privilege: a role, or PUBLIC. A role cannot have the name `public`. */
export const grantee = (role: string): string => (isPublic(role) ? 'PUBLIC' : ident(role))

/** Reports whether a role is PUBLIC. */
export const isPublic = (role: string): boolean => role.toLowerCase() === 'public'

/** Rejects a NUL, at which the protocol would end the statement. */
function withoutNul(text: string): string {
  if (text.includes('\0')) throw new Error('PostgreSQL has no texts with a NUL character in them')
  return text
}

/** Parameters with a list of names as their value. As one text they would be one name with commas. */
const lists = new Set([
  'local_preload_libraries',
  'oauth_validator_libraries',
  'search_path',
  'session_preload_libraries',
  'shared_preload_libraries',
  'temp_tablespaces',
  'unix_socket_directories',
])

/** Returns `SET name TO value`, for a role or a database. */
export function setting(name: string, value: string): string {
  const parameter = name.split('.').map(ident).join('.')
  const values = lists.has(name.toLowerCase()) ? namesIn(value) : [value]
  return `SET ${parameter} TO ${values.length > 0 ? values.map(literal).join(', ') : "''"}`
}

/** Reports whether two values of a parameter are equal. The server formats lists in its own way. */
export function sameSetting(name: string, a: string, b: string): boolean {
  if (!lists.has(name.toLowerCase())) return a === b
  return JSON.stringify(namesIn(a)) === JSON.stringify(namesIn(b))
}

/** Parses a list of names, which are separated by commas and may be quoted. */
function namesIn(list: string): readonly string[] {
  const found = list.matchAll(/\s*(?:"((?:[^"]|"")*)"|([^,"]*))\s*(?:,|$)/g)
  return [...found]
    .map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain.trim().toLowerCase())
    .filter((name) => name !== '')
}
