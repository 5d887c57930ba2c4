import type { Call, Expr } from '../ast.js'
import type { Issue } from '../source.js'
import type { Kind } from '../types.js'
import { type Clause, clauseErrors, interpolate } from './format.js'

class Complaint {
  constructor(
    readonly message: string,
    readonly at: Expr | undefined,
  ) {}
}

const printable: readonly Kind[] = [
  'list',
  'map',
  'int',
  'uint',
  'double',
  'bool',
  'string',
  'timestamp',
  'bytes',
  'duration',
  'type',
  'null',
]

const allowed: Readonly<Record<Clause, readonly Kind[]>> = {
  s: printable,
  d: ['int', 'uint'],
  f: ['double', 'string'],
  e: ['double', 'string'],
  b: ['int', 'uint', 'bool'],
  x: ['int', 'uint', 'string', 'bytes'],
  X: ['int', 'uint', 'string', 'bytes'],
  o: ['int', 'uint'],
}

/** Returns the part of an argument that the clause cannot print. */
function unprintable(clause: Clause, arg: Expr): Expr | undefined {
  const { kind } = arg.type!
  if (kind !== 'dyn' && !allowed[clause].includes(kind)) return arg
  if (clause !== 's') return undefined
  const parts =
    arg.kind === 'list' ? arg.elements : arg.kind === 'map' ? arg.entries.flatMap((e) => [e.key, e.value]) : []
  for (const part of parts) {
    const bad = unprintable('s', part)
    if (bad) return bad
  }
  return undefined
}

/** Validates a literal format string against a literal list of arguments. */
export function checkFormatCall(call: Call): Issue[] {
  const list = call.args[0]
  if (call.name !== 'format' || call.target?.kind !== 'literal' || list?.kind !== 'list') return []
  if (typeof call.target.value !== 'string' || call.args.length !== 1) return []
  const args = list.elements
  let used = 0
  const format = (clause: Clause, _: number | undefined, index: number) => {
    used++
    const bad = unprintable(clause, args[index]!)
    if (bad) throw new Complaint(`error during formatting: ${clauseErrors[clause]}${bad.type!.name}`, bad)
    return ''
  }
  try {
    const complain = (message: string): never => {
      throw new Complaint(message, undefined)
    }
    interpolate(call.target.value, args.length, format, complain, true)
  } catch (error) {
    if (!(error instanceof Complaint)) throw error
    return [{ offset: (error.at ?? call).offset, message: error.message }]
  }
  if (args.length <= used) return []
  const message = `too many arguments supplied to string.format (expected ${used}, got ${args.length})`
  return [{ offset: call.offset, message }]
}
