import { apiVersionOf } from '@crosstie/kube'
import type { KindShape } from './crd.js'
import type { Permissions } from './managed.js'
import { identifiersOf } from './query.js'
import { type Node, referenceFields, secretRefField } from './schema.js'

interface PageOptions {
  /** Whether the kind supports queries. */
  readonly lists: boolean
  readonly permissions?: Permissions | undefined
}

/** Returns the reference page of a kind, in Markdown. */
export function kindPage(
  shape: KindShape,
  naming: 'user-chosen' | 'provider-assigned',
  { lists, permissions }: PageOptions,
): string {
  const { type } = shape
  const nameRule =
    naming === 'user-chosen'
      ? "The external name is the annotation `crossplane.io/external-name`, or the object's own name when that is absent."
      : 'The provider assigns the external name; it is written to `crossplane.io/external-name` after the create.'
  return [
    `# ${type.kind}`,
    '',
    `\`${apiVersionOf(type)}\`, cluster-scoped, \`${type.resource}.${type.group}\``,
    '',
    ...(shape.doc ? [shape.doc, ''] : []),
    nameRule,
    '',
    '## spec.forProvider',
    '',
    table(['Field', 'Type', 'Required', 'Description'], parameterRows(shape.parameters)),
    '',
    '`spec.initProvider` has the same fields, none of them required. They are used when the resource is created, where',
    '`forProvider` does not set them, and are ignored afterwards.',
    '',
    '## status.atProvider',
    '',
    ...observed(observationRows(shape.observation)),
    '',
    ...(lists ? querySection(shape) : []),
    ...(permissions ? permissionSection(permissions) : []),
  ].join('\n')
}

function querySection({ type, parameters }: KindShape): readonly string[] {
  const places = Object.keys(identifiersOf(parameters)).map((name) => `\`${name}\``)
  const where = places.length > 0 ? ` Its \`spec.forProvider\` has only ${places.join(', ')}.` : ''
  return [
    `## ${type.kind}Query`,
    '',
    `Finds what exists and owns one ${type.kind} for each match, which is only ever observed.${where} \`spec.filter\` says`,
    'which (`matchFields`, `expression`), `spec.limit` how many at most, `spec.refreshInterval` how often to look, and',
    '`spec.template.metadata` what they carry. `status.matches` lists them.',
    '',
  ]
}

function permissionSection(permissions: Permissions): readonly string[] {
  const rows = Object.entries(permissions).map(([policy, actions]) => [
    policy,
    actions.map((action) => `\`${action}\``).join(', ') || 'none',
  ])
  return [
    '## Permissions',
    '',
    'The credentials must be allowed these actions, by management policy. `*` needs them all.',
    '',
    table(['Policy', 'Actions'], rows),
    '',
  ]
}

function observed(rows: readonly (readonly string[])[]): readonly string[] {
  const parameters = 'All fields of `forProvider` that are not sensitive, as the provider reports them'
  if (rows.length === 0) return [`${parameters}.`]
  return [`${parameters}, and:`, '', table(['Field', 'Type', 'Description'], rows)]
}

function parameterRows(node: Node, path = ''): string[][] {
  return Object.entries(node.fields ?? {}).flatMap(([name, field]) => {
    const here = path + name
    const required = field.identifier
      ? 'always'
      : field.optional
        ? ''
        : field.sensitive?.generate
          ? 'generated'
          : 'to manage'
    const notes = [field.doc, field.immutable ? 'Immutable.' : '', enumNote(field)].filter(Boolean).join(' ')
    if (field.sensitive) return [[`\`${path}${secretRefField(name)}\``, 'secret key', required, notes]]
    const rows = [[`\`${here}\``, typeName(field), required, notes]]
    if (field.reference) {
      const { ref, selector } = referenceFields(name, field)
      rows.push([`\`${path}${ref}\``, 'reference', '', `Gives \`${here}\` from a ${field.reference.to().kind}.`])
      rows.push([`\`${path}${selector}\``, 'selector', '', `Chooses \`${path}${ref}\`.`])
    }
    return [...rows, ...parameterRows(innerOf(field), `${here}${field.type === 'list' ? '[]' : ''}.`)]
  })
}

function observationRows(node: Node, path = ''): string[][] {
  return Object.entries(node.fields ?? {}).flatMap(([name, field]) => [
    [`\`${path}${name}\``, typeName(field), field.doc],
    ...observationRows(innerOf(field), `${path}${name}${field.type === 'list' ? '[]' : ''}.`),
  ])
}

const innerOf = (node: Node): Node => (node.items?.type === 'object' ? node.items : node)

function enumNote({ limits }: Node): string {
  return limits.enum ? `One of ${limits.enum.map((value) => `\`${value}\``).join(', ')}.` : ''
}

function typeName(node: Node): string {
  if (node.type === 'list') return `${node.set ? 'set' : 'list'} of ${typeName(node.items!)}`
  if (node.document) return 'object'
  if (node.type === 'map') return `map of ${typeName(node.items!)}`
  return node.type
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
