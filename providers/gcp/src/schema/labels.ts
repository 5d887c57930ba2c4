import { isObject } from '@crosstie/kube'
import { s } from '@crosstie/resources/provider'
import { type Values, valueAt, withValue } from './convert.js'

export type Labels = Readonly<Record<string, string>>

/** Where the labels of a resource are, by which we recognize resources that we created. */
export interface LabelStore {
  /** The field of the kind. */
  readonly field: string
  /** The field of the API that holds the labels beside something else. */
  readonly within?: string
  /** Labels in the spec and our own, as the resource is to have them. */
  write(body: Values, labels: Labels): Values
  /** The labels that an observed resource has; its other values without them. */
  read(found: Values): { readonly labels: Labels | undefined; readonly rest: Values }
}

const LABEL_MAX = 63

/** Our own labels may hold characters that Google does not allow in values. */
export function allowedValue(value: string): string {
  return value
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, '_')
    .slice(0, LABEL_MAX)
}

/** Labels of the API, at a path of the resource. */
export function apiLabels(field: string, path: string = field): LabelStore {
  return {
    field,
    write: (body, labels) => withValue(body, path, labels),
    read(found) {
      const labels = valueAt(found, path)
      return { labels: isObject(labels) ? textsOf(labels) : undefined, rest: withValue(found, path, undefined) }
    },
  }
}

const textsOf = (values: Values): Labels =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, String(value)]))

export const labelsField = (doc = 'Labels. Labels that are not named here belong to others.') =>
  s.optional(s.map(s.string(), { shared: true, doc }))

const MARKER = /\s*\[labels: ([^\]]*)\]$/
const OWN = 'crosstie-uid'

/**
 * Labels at the end of the description, for resources that have no labels: `Production [labels: crosstie-uid=…]`. Of our own
 * labels only the one that proves ownership is kept, because descriptions are short.
 */
export const descriptionLabels: LabelStore = {
  field: 'descriptionLabels',
  within: 'description',
  write(body, labels) {
    const given = Object.entries(labels).filter(([key]) => key === OWN || !key.startsWith('crossplane-'))
    const marker = given.length === 0 ? '' : `[labels: ${given.map((pair) => pair.join('=')).join(', ')}]`
    const { description = '' } = body
    const text = [String(description).replace(MARKER, ''), marker].filter(Boolean).join(' ')
    return { ...body, ...(text === '' ? {} : { description: text }) }
  },
  read(found) {
    const text = String(found['description'] ?? '')
    const held = MARKER.exec(text)?.[1]
    const description = text.replace(MARKER, '')
    const rest = withValue(found, 'description', description === '' ? undefined : description)
    const labels = held === undefined ? undefined : Object.fromEntries(held.split(', ').map(pairOf))
    return { labels, rest }
  },
}

function pairOf(text: string): [string, string] {
  const [key = '', ...value] = text.split('=')
  return [key, value.join('=')]
}

export const descriptionLabelsField = (options: { readonly immutable?: boolean } = {}) =>
  s.optional(
    s.map(s.string({ pattern: '^[^\\],=]*$' }), {
      shared: true,
      doc: 'Labels that are kept at the end of the description, because the API has no labels for this resource.',
      ...options,
    }),
  )
