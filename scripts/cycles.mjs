// Finds cycles between the folders of a package. A file directly in `src` counts as a folder of its own.

/**
 * Returns the cycles of a graph, each as the names along it. `edges` holds pairs [from, to]. A graph without cycles returns an
 * empty list; a graph with cycles returns at least one for each node that is part of one.
 */
export function cyclesOf(edges) {
  const targets = new Map()
  for (const [from, to] of edges) if (from !== to) targets.set(from, (targets.get(from) ?? new Set()).add(to))
  const done = new Set()
  const cycles = []
  const visit = (node, path) => {
    const start = path.indexOf(node)
    if (start >= 0) cycles.push([...path.slice(start), node])
    if (start >= 0 || done.has(node)) return
    for (const next of targets.get(node) ?? []) visit(next, [...path, node])
    done.add(node)
  }
  for (const node of targets.keys()) visit(node, [])
  return cycles
}
