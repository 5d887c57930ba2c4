/**
 * The layers of the repository. A folder may import folders on the lines above its own, but not on the same line or
 * below. `except` restricts that further.
 */
export const layers = [
  ['packages/cel'],
  ['packages/kube'],
  ['packages/apiserver', 'packages/controller'],
  ['packages/resources'],
  [
    ...['providers/aws', 'providers/azure', 'providers/gcp', 'providers/kubernetes', 'providers/nop', 'providers/sql'],
    'providers/terraform',
  ],
  ['apps/crosstie'],
  ['test/conformance', 'test/simulation', 'test/end-to-end', 'bench'],
  ['test/clients'],
]

/** Folders with fewer permitted imports than their layer. */
export const except = {
  'packages/resources': ['packages/cel', 'packages/kube', 'packages/controller'],
  // Its external API is Kubernetes itself, which it reaches with the client and the informers (decision 15).
  'providers/kubernetes': ['packages/cel', 'packages/kube', 'packages/controller', 'packages/resources'],
  'providers/*': ['packages/kube', 'packages/resources'],
}

/**
 * Layers inside a package: folders below `src`, from the bottom up. A folder may
 * import folders on the lines above its own and files directly in `src`.
 */
export const rooms = {
  'packages/apiserver': [
    ['store', 'gotypes'],
    ['wire', 'watch', 'access'],
    ['transport'],
    ['definitions'],
    ['builtin'],
    ['serving'],
    ['decode', 'openapi'],
    ['admission'],
    ['verbs'],
    ['controllers', 'http'],
  ],
  'packages/controller': [['testing', 'workqueue'], ['client', 'events', 'informer'], ['loop'], ['lease']],
  'packages/resources': [
    ['metadata', 'memory'],
    ['definition'],
    ['external'],
    ['status'],
    ['reference', 'connection'],
    ['providerconfig'],
    ['managed'],
    ['binding'],
    ['query'],
    ['plan'],
    ['import'],
    ['request'],
    ['testing'],
    ['vectors'],
  ],
  'apps/crosstie': [['options'], ['daemon'], ['cli'], ['reference']],
}

/** Reports whether a folder of a package may import another folder of the same package. */
export function mayImportRoom(folder, from, to) {
  const levels = rooms[folder]
  if (!levels || from === to || from === undefined || to === undefined) return true
  const levelOf = (room) => levels.findIndex((level) => level.includes(room))
  return levelOf(to) < levelOf(from) && levelOf(to) >= 0
}

/** Reports whether a package folder may import another. */
export function mayImport(from, to) {
  if (from === to) return true
  const allowed = except[from] ?? except[from.replace(/\/[^/]+$/, '/*')]
  if (allowed) return allowed.includes(to)
  return levelOf(to) < levelOf(from)
}

function levelOf(folder) {
  const level = layers.findIndex((layer) => layer.includes(folder))
  if (level < 0) throw new Error(`${folder} has no place in scripts/layers.mjs`)
  return level
}
