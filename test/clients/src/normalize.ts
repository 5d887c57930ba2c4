const patterns: readonly (readonly [RegExp, string])[] = [
  // Log lines of client-go, which appear if a timeout interrupts one of its requests.
  [/^[EWI]\d{4} \d\d:\d\d:\d\d\.\d+ .*\n/gm, ''],
  [/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'TOKEN'],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UID'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+\d\d:\d\d)/g, 'TIME'],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? [+-]\d{4} \w+( m=\S+)?/g, 'TIME'],
  [/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, 'TIME'],
  [/\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}/g, 'TIME'],
  [/(resourceVersion["']?: *["']?|Resource Version: +)\d+/g, '$1RV'],
  [/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g, 'CERTIFICATE'],
  [/127\.0\.0\.1:\d+/g, 'LOOPBACK'],
  [/\/tmp\/[\w./-]+/g, 'FILE'],
  // Ages of new objects. The widths of columns depend on the longest age.
  [/(^|[\s(])(\d+s|\d+m(\d+s)?|\d+h(\d+m)?)(?=$|[\s)])/gm, '$1AGE'],
  [/\b\d+y\d+d\b/g, 'YEARS'],
  [/<invalid>|<unknown>/g, 'AGE'],
  [/[ \t]+$/gm, ''],
  [/(\S) {2,}/g, '$1  '],
]

/** Removes the parts of a client's output that differ between runs. */
export function normalize(text: string, names: Readonly<Record<string, string>>): string {
  let out = text
  for (const [from, to] of Object.entries(names)) out = out.replaceAll(from, to)
  for (const [pattern, to] of patterns) out = out.replace(pattern, to)
  return out
}
