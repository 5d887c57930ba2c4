import { apiVersionOf } from '@crosstie/kube'
import type { DefinitionSpec, DefinitionVersion } from '@crosstie/kube/schema'

const stages = ['alpha', 'beta', '']

/**
 * Orders versions: stable before beta before alpha, then higher numbers first. Other names come last, in
 * alphabetical order.
 */
export function byPriority(a: string, b: string): number {
  const [left, right] = [parse(a), parse(b)]
  if (!left || !right) return left ? -1 : right ? 1 : a < b ? -1 : a > b ? 1 : 0
  return right.stage - left.stage || right.major - left.major || right.minor - left.minor
}

function parse(version: string): { stage: number; major: number; minor: number } | undefined {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version)
  if (!match) return undefined
  return { stage: stages.indexOf(match[2] ?? ''), major: Number(match[1]), minor: Number(match[3] ?? 0) }
}

/** Returns the warning for a deprecated version when its author gave none: it names the version to use instead. */
export function deprecationWarning({ group, names, versions }: DefinitionSpec, version: DefinitionVersion): string {
  if (version.deprecationWarning) return version.deprecationWarning
  const named = (name: string) => `${apiVersionOf({ group, version: name })} ${names.kind}`
  const better = versions
    .filter(({ name, served, deprecated }) => served && !deprecated && byPriority(name, version.name) < 0)
    .map(({ name }) => name)
    .sort(byPriority)
  const text = `${named(version.name)} is deprecated`
  return better.length === 0 ? text : `${text}; use ${named(better[0]!)}`
}
