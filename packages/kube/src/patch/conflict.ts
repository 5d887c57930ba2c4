import { StatusError } from '../errors.js'
import { type FieldSet, has, pathText } from './field-set.js'
import { compareHoldings, type Holding } from './managers.js'

/** A field that an apply would change although another manager owns it. */
export interface Conflict {
  readonly id: string
  readonly holding: Holding
  readonly path: readonly string[]
}

/** Returns the conflicts with fields that are not allowed to change. */
export function withoutAllowed(conflicts: readonly Conflict[], allowed: FieldSet): readonly Conflict[] {
  return conflicts.filter(({ path }) => !has(allowed, path))
}

/** An answer with more causes would take megabytes. */
const CAUSES_MAX = 1_000

/** 409 with one cause for each of the first 1,000 fields, as kubectl prints them. */
export function conflictError(conflicts: readonly Conflict[]): StatusError {
  const all = [...conflicts].sort((a, b) => compareHoldings(a.holding, b.holding))
  const sorted = all.slice(0, CAUSES_MAX)
  const causes = sorted.map(({ holding, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${managerText(holding)}`,
    field: pathText(path),
  }))
  return new StatusError(409, 'Conflict', conflictText(sorted, all.length), { details: { causes } })
}

function conflictText(conflicts: readonly Conflict[], count: number): string {
  if (conflicts.length === 1) {
    const [{ holding, path }] = conflicts as [Conflict]
    return `Apply failed with 1 conflict: conflict with ${managerText(holding)}: ${pathText(path)}`
  }
  const lines: string[] = []
  let previous: string | undefined
  for (const { id, holding, path } of conflicts) {
    if (id !== previous) lines.push(`conflicts with ${managerText(holding)}:`)
    previous = id
    lines.push(`- ${pathText(path)}`)
  }
  if (count > conflicts.length) lines.push(`and ${count - conflicts.length} more conflicts`)
  return `Apply failed with ${count} conflicts: ${lines.join('\n')}`
}

function managerText({ manager, operation, version, subresource }: Holding): string {
  const name = JSON.stringify(manager)
  const where = subresource === '' ? name : `${name} with subresource ${JSON.stringify(subresource)}`
  return operation === 'Update' ? `${where} using ${version}` : where
}
