import { isObject, type KubeObject, parseFieldSelector, parseLabelSelector } from '@crosstie/kube'
import type { Served } from '../serving/served.js'

/** The objects that a list or watch selects. */
export interface Selection {
  readonly everything: boolean
  matches(object: KubeObject): boolean
}

const all: Selection = { everything: true, matches: () => true }

/** Parses the selectors of a request. Throws 400. */
export function selectionOf(served: Served, options: { labelSelector?: string; fieldSelector?: string }): Selection {
  if (!options.labelSelector && !options.fieldSelector) return all
  const labels = options.labelSelector ? parseLabelSelector(options.labelSelector) : undefined
  const fields = options.fieldSelector ? fieldTest(served, options.fieldSelector) : undefined
  return {
    everything: (labels?.empty ?? true) && fields === undefined,
    matches: (object) =>
      (labels === undefined || labels.matches(object.metadata.labels ?? {})) &&
      (fields === undefined || fields(object)),
  }
}

function fieldTest(served: Served, text: string): ((object: KubeObject) => boolean) | undefined {
  const { requirements } = parseFieldSelector(text)
  if (requirements.length === 0) return undefined
  const tests = requirements.map(({ field, operator, value }) => {
    const read = reader(served, field)
    return (object: KubeObject) => (read(object) === value) === (operator !== '!=')
  })
  return (object) => tests.every((test) => test(object))
}

function reader(served: Served, field: string): (object: KubeObject) => string {
  if (field === 'metadata.name') return ({ metadata }) => metadata.name ?? ''
  if (field === 'metadata.namespace' && served.definition.namespaced) return ({ metadata }) => metadata.namespace ?? ''
  const special = served.version.fieldLabels?.[field]
  if (special) return special
  const path = `.${field}`
  if (!served.version.selectableFields.includes(path)) throw unsupported(served, field)
  const parts = field.split('.')
  return (object) => {
    let value: unknown = object
    for (const part of parts) value = isObject(value) ? value[part] : undefined
    return value === undefined || value === null ? '' : String(value)
  }
}

function unsupported({ definition }: Served, field: string): Error {
  const selects = definition.versions[0]!.selectableFields.length > 0
  return definition.strategy.unsupportedFieldSelectorError(field, selects)
}
