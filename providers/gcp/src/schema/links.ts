import type { ResourceType } from '@crosstie/kube'
import { s } from '@crosstie/resources/provider'

/** `https://www.googleapis.com/compute/v1/projects/p/global/networks/n` and `projects/p/global/networks/n` name the same. */
export function sameLink(desired: string, observed: string): boolean {
  const [a, b] = [relative(desired), relative(observed)]
  return a === b || a.endsWith(`/${b}`) || b.endsWith(`/${a}`)
}

const relative = (link: string): string => link.replace(/^.*?(?=projects\/)/, '').replace(/^\//, '')

interface LinkOptions {
  readonly doc: string
  readonly to: () => ResourceType
  /** Where in the referenced object the value is. Absent: its link. */
  readonly value?: string
  readonly immutable?: boolean
  readonly open?: boolean
}

/** A reference to another resource of Google, by its link. */
export function link({ doc, to, value = 'status.atProvider.selfLink', immutable = false, open = false }: LinkOptions) {
  const schema = s.string({
    doc,
    immutable,
    same: sameLink,
    omittedWhenZero: true,
    ...(open ? { lateInitialize: false as const } : {}),
  })
  return s.optional(s.reference(schema, { to, value }))
}
