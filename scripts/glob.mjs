import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the files below the folders whose path matches, sorted. node_modules is skipped. */
export function globSync(folders, pattern) {
  const found = []
  const visit = (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) entry.name !== 'node_modules' && visit(path)
      else if (pattern.test(path)) found.push(path)
    }
  }
  folders.filter((folder) => existsSync(folder)).forEach(visit)
  return found.sort()
}
