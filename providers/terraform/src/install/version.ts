/** A version of a provider: semantic versioning 2. */
export interface Version {
  readonly text: string
  readonly numbers: readonly [major: number, minor: number, patch: number]
  /** Empty for a release. */
  readonly prerelease: readonly string[]
}

const pattern = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/

export function parseVersion(text: string): Version | undefined {
  const match = pattern.exec(text)
  if (!match) return undefined
  const [, major, minor = '0', patch = '0', prerelease = ''] = match
  return {
    text: text.replace(/^v/, ''),
    numbers: [Number(major), Number(minor), Number(patch)],
    prerelease: prerelease === '' ? [] : prerelease.split('.'),
  }
}

/** Negative when `a` comes before `b`. */
export function compareVersions(a: Version, b: Version): number {
  for (const [index, number] of a.numbers.entries()) {
    if (number !== b.numbers[index]) return number - b.numbers[index]!
  }
  return comparePrerelease(a.prerelease, b.prerelease)
}

function comparePrerelease(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const order = compareIdentifiers(a[index], b[index])
    if (order !== 0) return order
  }
  return 0
}

function compareIdentifiers(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? -1 : 1
  const numeric = /^\d+$/
  if (numeric.test(a) && numeric.test(b)) return Number(a) - Number(b)
  if (numeric.test(a) !== numeric.test(b)) return numeric.test(a) ? -1 : 1
  return a < b ? -1 : a > b ? 1 : 0
}

/** True for versions that a constraint allows. */
export type Constraint = (version: Version) => boolean

type Operator = '=' | '!=' | '>' | '>=' | '<' | '<=' | '~>'

/**
 * Reads Terraform's constraint syntax, such as `~> 3.6, != 3.6.2`. A prerelease is only allowed by naming it exactly. Empty
 * text allows every release. Throws when the text is not a constraint.
 */
export function parseConstraint(text: string): Constraint {
  const terms = text.split(',').map((term) => term.trim())
  if (terms.length === 1 && terms[0] === '') return ({ prerelease }) => prerelease.length === 0
  const constraints = terms.map(parseTerm)
  return (version) => constraints.every((allows) => allows(version))
}

function parseTerm(term: string): Constraint {
  const [, operator = '=', text = ''] = /^(=|!=|>=|<=|~>|>|<)?\s*(\S+)$/.exec(term) ?? []
  const bound = parseVersion(text)
  if (!bound)
    throw new Error(`${JSON.stringify(term)} is not a version constraint: write one such as ~> 3.6 or >= 1.2, < 2`)
  // The number of parts that were written decides what ~> allows to grow.
  const parts = text.replace(/^v/, '').split(/[-+]/)[0]!.split('.').length
  const allows = termFor(operator as Operator, bound, parts)
  return (version) => (version.prerelease.length === 0 || named(operator, version, bound)) && allows(version)
}

const named = (operator: string, version: Version, bound: Version): boolean =>
  operator === '!=' || (operator === '=' && compareVersions(version, bound) === 0)

function termFor(operator: Operator, bound: Version, parts: number): Constraint {
  const order = (version: Version) => compareVersions(version, bound)
  switch (operator) {
    case '=':
      return (version) => order(version) === 0
    case '!=':
      return (version) => order(version) !== 0
    case '>':
      return (version) => order(version) > 0
    case '>=':
      return (version) => order(version) >= 0
    case '<':
      return (version) => order(version) < 0
    case '<=':
      return (version) => order(version) <= 0
    case '~>': {
      const fixed = bound.numbers.slice(0, Math.max(1, parts - 1))
      return (version) => order(version) >= 0 && fixed.every((number, index) => version.numbers[index] === number)
    }
  }
}
