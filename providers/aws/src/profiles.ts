/** A section of a credentials file. */
export type Profile = Readonly<Record<string, string | undefined>>

/** Parses a credentials file of the AWS CLI. Sections are `[default]` or, as in config files, `[profile name]`. */
export function parseProfiles(text: string): ReadonlyMap<string, Profile> {
  const profiles = new Map<string, Record<string, string>>()
  let current: Record<string, string> | undefined
  for (const raw of text.split(/\r?\n/)) {
    const line = raw.replace(/(^|\s)[#;].*$/, '').trim()
    const section = /^\[\s*(?:profile\s+)?([^\]]+?)\s*\]$/.exec(line)?.[1]
    if (section !== undefined) {
      current = profiles.get(section) ?? {}
      profiles.set(section, current)
      continue
    }
    const at = line.indexOf('=')
    if (at > 0 && current) current[line.slice(0, at).trim().toLowerCase()] = line.slice(at + 1).trim()
  }
  return profiles
}
