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

/** Returns a StatusError with code 409 and one cause per field. */
export function conflictError(conflicts: readonly Conflict[]): StatusError {
  const sorted = [...conflicts].sort((a, b) => compareHoldings(a.holding, b.holding))
  const causes = sorted.map(({ holding, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${managerText(holding)}`,
    field: pathText(path),
  }))
  return new StatusError(409, 'Conflict', conflictText(sorted), { details: { causes } })
}

function conflictText(conflicts: readonly Conflict[]): string {
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
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`
}

function managerText({ manager, operation, version, subresource }: Holding): string {
  const name = JSON.stringify(manager)
  const where = subresource === '' ? name : `${name} with subresource ${JSON.stringify(subresource)}`
  return operation === 'Update' ? `${where} using ${version}` : where
}
