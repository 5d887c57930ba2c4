import type { WireDiagnostic, WirePath } from './wire.js'

/** A step is the name of an attribute, the key of a map, or the index of a list. */
export type Path = readonly (string | number)[]

/** An error or a warning that a provider reports about a call. */
export interface Diagnostic {
  readonly severity: 'error' | 'warning'
  readonly summary: string
  readonly detail: string
  /** The argument that it is about; empty for the whole resource. */
  readonly path: Path
}

export function diagnosticsFromWire(wires: readonly WireDiagnostic[] = []): readonly Diagnostic[] {
  return wires.map(({ severity, summary, detail, attribute }) => ({
    // Anything but a warning counts as an error: an unknown severity must not pass for success.
    severity: severity === 2 ? 'warning' : 'error',
    summary: summary ?? '',
    detail: detail ?? '',
    path: pathFromWire(attribute),
  }))
}

export function pathFromWire(path: WirePath | null | undefined): Path {
  return (path?.steps ?? []).map((step) => {
    if (Object.hasOwn(step, 'attributeName')) return step.attributeName!
    if (Object.hasOwn(step, 'elementKeyString')) return step.elementKeyString!
    return Number(step.elementKeyInt ?? 0)
  })
}

export const errorsIn = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
  diagnostics.filter(({ severity }) => severity === 'error')

export const warningsIn = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
  diagnostics.filter(({ severity }) => severity === 'warning')

/** Terraform's own notation, such as `rule[0].port`. */
export function pathText(path: Path): string {
  const steps = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
  return steps.join('').replace(/^\./, '')
}

/** The provider refused a call. */
export class DiagnosticsError extends Error {
  override readonly name = 'DiagnosticsError'

  constructor(
    readonly diagnostics: readonly Diagnostic[],
    describePath: (path: Path) => string = pathText,
  ) {
    super(errorsIn(diagnostics).map(describe(describePath)).join('; '))
  }
}

const describe = (describePath: (path: Path) => string) => (diagnostic: Diagnostic) => {
  const where = diagnostic.path.length > 0 ? `${describePath(diagnostic.path)}: ` : ''
  const detail = diagnostic.detail.replace(/\s+/g, ' ').trim()
  return `${where}${diagnostic.summary}${detail && detail !== diagnostic.summary ? `: ${detail}` : ''}`
}

/** Throws a DiagnosticsError when one of them is an error. */
export function throwErrors(diagnostics: readonly Diagnostic[], describePath?: (path: Path) => string): void {
  if (errorsIn(diagnostics).length > 0) throw new DiagnosticsError(diagnostics, describePath)
}
