import { apiVersionOf, isObject, type KubeObject, type ResourceType } from '@crosstie/kube'

type Values = Readonly<Record<string, unknown>>

/** A part of an object that holds the fields of the kind. */
export type Section = 'forProvider' | 'initProvider' | 'atProvider'

/**
 * Converts between one version of a kind and the version of its definition. The implementation must preserve all
 * information in both directions.
 */
export interface VersionConversion {
  readonly version: string
  toCurrent(values: Values, section: Section): Values
  fromCurrent(values: Values, section: Section): Values
}

/** Converts an object to another version of its kind, via the current version. Throws if either version is unknown. */
export function convertObject(
  type: ResourceType,
  versions: readonly VersionConversion[],
  object: KubeObject,
  to: string,
): KubeObject {
  const from = object.apiVersion.slice(object.apiVersion.indexOf('/') + 1)
  if (from === to) return object
  const known = (name: string) => {
    const found = versions.find(({ version }) => version === name)
    if (!found && name !== type.version) throw new Error(`${type.kind}.${type.group} has no version ${name}`)
    return found
  }
  const [source, target] = [known(from), known(to)]
  const convert = (values: unknown, section: Section): unknown => {
    if (!isObject(values)) return values
    const current = source ? source.toCurrent(values, section) : values
    return target ? target.fromCurrent(current, section) : current
  }
  const within = (outer: unknown, sections: readonly Section[]): unknown => {
    if (!isObject(outer)) return outer
    const held = sections.filter((section) => outer[section] !== undefined)
    return { ...outer, ...Object.fromEntries(held.map((section) => [section, convert(outer[section], section)])) }
  }
  return {
    ...object,
    apiVersion: apiVersionOf({ group: type.group, version: to }),
    ...(object['spec'] === undefined ? {} : { spec: within(object['spec'], ['forProvider', 'initProvider']) }),
    ...(object['status'] === undefined ? {} : { status: within(object['status'], ['atProvider']) }),
  }
}
