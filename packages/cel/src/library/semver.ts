import { compareStrings } from '../arithmetic.js'
import { declare, type FunctionDeclaration, member, overload } from '../functions.js'
import { quote } from '../kubernetes/print.js'
import { structType, types } from '../types.js'
import { CelObject, EvaluationError, fail, maxUint, normalInt, noSuchOverload, type Value } from '../values.js'

const { bool, int, string } = types
const semverType = structType('kubernetes.Semver')

class CelSemver extends CelObject {
  readonly type = semverType
  constructor(
    readonly numbers: readonly [bigint, bigint, bigint],
    readonly prerelease: readonly (string | bigint)[],
  ) {
    super()
  }
  equals(other: Value): boolean {
    return other instanceof CelSemver ? compareVersions(this, other) === 0 : noSuchOverload()
  }
}

function number(text: string, what: string): bigint {
  const word = what[0]!.toUpperCase() + what.slice(1)
  if (/[^0-9]/.test(text)) fail(`Invalid character(s) found in ${what} number ${quote(text)}`)
  if (text.length > 1 && text[0] === '0') fail(`${word} number must not contain leading zeroes ${quote(text)}`)
  return uint(text)
}

function uint(text: string): bigint {
  if (text === '') fail('strconv.ParseUint: parsing "": invalid syntax')
  const value = BigInt(text)
  return value > maxUint ? fail(`strconv.ParseUint: parsing ${quote(text)}: value out of range`) : value
}

function prereleasePart(text: string): string | bigint {
  if (text === '') fail('Prerelease is empty')
  if (/^[0-9]+$/.test(text)) {
    if (text.length > 1 && text[0] === '0') {
      fail(`Numeric PreRelease version must not contain leading zeroes ${quote(text)}`)
    }
    return uint(text)
  }
  return /^[A-Za-z0-9-]+$/.test(text) ? text : fail(`Invalid character(s) found in prerelease ${quote(text)}`)
}

function splitAt(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

/** Splits `a.b.c` into three parts. The last part may contain more dots. */
function threeParts(text: string): string[] {
  const [first, rest] = splitAt(text, '.')
  if (rest === undefined) return [first]
  const [second, third] = splitAt(rest, '.')
  return third === undefined ? [first, second] : [first, second, third]
}

function parse(text: string): CelSemver {
  if (text === '') fail('Version string empty')
  const parts = threeParts(text)
  if (parts.length !== 3) fail('No Major.Minor.Patch elements found')
  const major = number(parts[0]!, 'major')
  const minor = number(parts[1]!, 'minor')
  const [beforeBuild, build] = splitAt(parts[2]!, '+')
  const [patchText, prerelease] = splitAt(beforeBuild, '-')
  const patch = number(patchText, 'patch')
  const pre = prerelease === undefined ? [] : prerelease.split('.').map(prereleasePart)
  for (const part of build === undefined ? [] : build.split('.')) {
    if (part === '') fail('Build meta data is empty')
    if (!/^[A-Za-z0-9-]+$/.test(part)) fail(`Invalid character(s) found in build meta data ${quote(part)}`)
  }
  return new CelSemver([major, minor, patch], pre)
}

function normalize(text: string): string {
  const parts = threeParts(text.replace(/^v/, '')).map((part) => {
    if (part.length <= 1) return part
    const trimmed = part.replace(/^0+/, '')
    return /^[0-9]/.test(trimmed) ? trimmed : `0${trimmed}`
  })
  if (parts.length < 3 && /[+-]/.test(parts.at(-1)!)) {
    fail('short version cannot contain PreRelease/Build meta data')
  }
  while (parts.length < 3) parts.push('0')
  return parts.join('.')
}

function toSemver(text: string, normalized = false): CelSemver {
  return parse(normalized ? normalize(text) : text)
}

function isSemver(text: string, normalized = false): boolean {
  try {
    toSemver(text, normalized)
    return true
  } catch (error) {
    if (error instanceof EvaluationError) return false
    throw error
  }
}

function compareParts(a: string | bigint, b: string | bigint): number {
  if (typeof a === 'bigint' && typeof b === 'bigint') return a < b ? -1 : a > b ? 1 : 0
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(a, b)
  return typeof a === 'bigint' ? -1 : 1
}

function compareVersions(a: CelSemver, b: CelSemver): number {
  for (let i = 0; i < 3; i++) {
    const order = compareParts(a.numbers[i]!, b.numbers[i]!)
    if (order !== 0) return order
  }
  if (a.prerelease.length === 0 || b.prerelease.length === 0) {
    return Math.sign(b.prerelease.length - a.prerelease.length)
  }
  for (let i = 0; i < Math.min(a.prerelease.length, b.prerelease.length); i++) {
    const order = compareParts(a.prerelease[i]!, b.prerelease[i]!)
    if (order !== 0) return order
  }
  return Math.sign(a.prerelease.length - b.prerelease.length)
}

const pair = [semverType, semverType] as const
const part = (name: string, index: 0 | 1 | 2) =>
  declare(name, [
    member(`semver_${name}`, [semverType], int, (version: CelSemver) => {
      return normalInt(BigInt.asIntN(64, version.numbers[index]))
    }),
  ])

/** The semver library of Kubernetes. */
export const semverLibrary: readonly FunctionDeclaration[] = [
  declare('semver', [
    overload('string_to_semver', [string], semverType, (text: string) => toSemver(text)),
    overload('string_bool_to_semver', [string, bool], semverType, toSemver),
  ]),
  declare('isSemver', [
    overload('is_semver_string', [string], bool, (text: string) => isSemver(text)),
    overload('is_semver_string_bool', [string, bool], bool, isSemver),
  ]),
  declare('isGreaterThan', [
    member('semver_is_greater_than', pair, bool, (a: CelSemver, b: CelSemver) => compareVersions(a, b) > 0),
  ]),
  declare('isLessThan', [
    member('semver_is_less_than', pair, bool, (a: CelSemver, b: CelSemver) => compareVersions(a, b) < 0),
  ]),
  declare('compareTo', [member('semver_compare_to', pair, int, compareVersions)]),
  part('major', 0),
  part('minor', 1),
  part('patch', 2),
]
