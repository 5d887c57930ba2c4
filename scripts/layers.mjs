/**
 * Who may import whom. A folder may use those on the lines above its own, and
 * nothing else: not below, not beside. `except` narrows that further.
 */
export const layers = [
  ['packages/kube'],
  ['packages/apiserver', 'packages/controller', 'apps/dashboard'],
  ['packages/resources'],
  ['providers/aws', 'providers/kubernetes', 'providers/nop', 'providers/sql', 'providers/terraform'],
  ['apps/crosstie'],
  ['test/conformance', 'test/simulation', 'test/end-to-end', 'bench'],
  ['test/clients'],
]

export const except = {
  'packages/resources': ['packages/kube', 'packages/controller'],
  // Its external API is Kubernetes itself: the client and the informers are what it reaches it with (decision 15).
  'providers/kubernetes': ['packages/kube', 'packages/controller', 'packages/resources'],
  'providers/*': ['packages/kube', 'packages/resources'],
}

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
