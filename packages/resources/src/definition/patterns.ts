import type { ResourceType } from '@crosstie/kube'
import { fieldsBelow, type Node, referenceFields, secretRefField } from './schema.js'

/** The definition of a kind violates a pattern of managed resource APIs. The message names the pattern and the fix. */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError'
  readonly complaints: readonly string[]

  constructor(kind: string, complaints: readonly string[]) {
    super(
      `the definition of ${kind} breaks ${complaints.length} API pattern(s):\n${complaints.map((c) => `- ${c}`).join('\n')}`,
    )
    this.complaints = complaints
  }
}

/** The parts of a definition that the patterns check. */
export interface CheckedKind {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly parameters: Node
  readonly observation: Node
  readonly tagsField?: string | undefined
  readonly naming: 'user-chosen' | 'provider-assigned'
  readonly idempotentCreate: boolean
  /** Kinds with their own definitions. A field must not embed one of them (MR12). */
  readonly ownKinds: readonly string[]
}

type Pattern = (kind: CheckedKind) => readonly string[]

/** The patterns that a definition must follow. Each message states the violation and the fix. */
const patterns: readonly Pattern[] = [
  namesMirrorTheProvider,
  namingIsKnown,
  optionalObjectOfOneFieldRequiresIt,
  sensitiveFieldsAreSecrets,
  fieldsStandForThisResourceOnly,
  referencesAreOutsideOfLists,
  immutableFieldsAreOutsideOfLists,
  keysAreRequiredFieldsOfItems,
  identifiersAreAtTheTop,
  addedNamesDoNotCollide,
  observationDoesNotRedefine,
  tagsAreAMapOfStrings,
  repeatableCreatesHaveChosenNames,
]

/** Checks the definition of a kind against all patterns. Throws DefinitionError with all violations. */
export function checkPatterns(kind: CheckedKind): void {
  const complaints = patterns.flatMap((pattern) => pattern(kind))
  if (complaints.length > 0) throw new DefinitionError(kind.kind, complaints)
}

/**
 * Checks that no kind embeds another kind of the same provider (MR12), since the embedded resource would have two
 * controllers. Kinds belong to the same provider if their groups are equal after the first label. Throws
 * DefinitionError.
 */
export function checkTogether(kinds: readonly { readonly type: ResourceType; readonly parameters: Node }[]): void {
  const providerOf = ({ group }: ResourceType) => group.split('.').slice(1).join('.')
  for (const { type, parameters } of kinds) {
    const others = kinds.filter((kind) => kind.type !== type && providerOf(kind.type) === providerOf(type))
    const ownKinds = others.map((kind) => kind.type.kind)
    const complaints = fieldsStandForThisResourceOnly({ parameters, ownKinds })
    if (complaints.length > 0) throw new DefinitionError(type.kind, complaints)
  }
}

function namesMirrorTheProvider({ group, version, kind }: CheckedKind): string[] {
  const complaints = []
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(group)) {
    complaints.push(`MR2: group ${JSON.stringify(group)} is no domain name; write it like ec2.aws.crossplane.io`)
  }
  if (!/^v[0-9]+((alpha|beta)[0-9]+)?$/.test(version)) {
    complaints.push(`MR2: version ${JSON.stringify(version)} must look like v1, v1beta1 or v1alpha2`)
  }
  if (!/^[A-Z][A-Za-z0-9]*$/.test(kind)) complaints.push(`MR2: kind ${JSON.stringify(kind)} must be in CamelCase`)
  return complaints
}

/** The compiler does not check providers in JavaScript, and an invalid value would change how creates are retried. */
function namingIsKnown({ naming }: CheckedKind): string[] {
  if (naming === 'user-chosen' || naming === 'provider-assigned') return []
  return [`XN1: naming must be 'user-chosen' or 'provider-assigned', not ${JSON.stringify(naming)}`]
}

function optionalObjectOfOneFieldRequiresIt({ parameters }: CheckedKind): string[] {
  return allFields(parameters).flatMap(({ path, node }) => {
    const fields = Object.entries(node.fields ?? {})
    if (node.type !== 'object' || !node.optional || fields.length !== 1 || !fields[0]![1].optional) return []
    const inner = [...path, fields[0]![0]].join('.')
    return [
      `MR8: ${path.join('.')} is optional and has one field, so that field must be required: drop s.optional around ${inner}`,
    ]
  })
}

const secretive = /(password|passphrase|secret|privatekey|token|credential)s?$/i

function sensitiveFieldsAreSecrets({ parameters }: CheckedKind): string[] {
  return allFields(parameters).flatMap(({ path, node }) => {
    const name = path.at(-1)!
    // An enum value is not a secret.
    if (node.sensitive || node.type !== 'string' || node.limits.enum || !secretive.test(name)) return []
    return [
      `MR9: ${path.join('.')} looks sensitive but would be readable in the spec: declare it s.sensitive(), which makes it ${secretRefField(name)}, or rename it`,
    ]
  })
}

function fieldsStandForThisResourceOnly({
  parameters,
  ownKinds,
}: Pick<CheckedKind, 'parameters' | 'ownKinds'>): string[] {
  return allFields(parameters).flatMap(({ path, node }) => {
    const name = path.at(-1)!.toLowerCase()
    const own = ownKinds.find((kind) => name === kind.toLowerCase() || name === `${kind.toLowerCase()}s`)
    const embeds = node.type === 'object' || (node.type === 'list' && node.items?.type === 'object')
    if (!own || !embeds) return []
    return [
      `MR12: ${path.join('.')} repeats the kind ${own}, which has a definition of its own: remove it, or refer to it by name`,
    ]
  })
}

function referencesAreOutsideOfLists({ parameters }: CheckedKind): string[] {
  return inLists(parameters).flatMap(({ path, node }) =>
    node.reference || node.sensitive
      ? [
          `MR10: ${path.join('.')} is a reference inside a list, where it cannot be owned alone: move it out of the list`,
        ]
      : [],
  )
}

function immutableFieldsAreOutsideOfLists({ parameters }: CheckedKind): string[] {
  return inLists(parameters).flatMap(({ path, node }) =>
    node.immutable ? [`MR11: ${path.join('.')} is immutable inside a list: make the list itself immutable`] : [],
  )
}

function keysAreRequiredFieldsOfItems({ parameters }: CheckedKind): string[] {
  return allFields(parameters).flatMap(({ path, node }) =>
    (node.keys ?? []).flatMap((key) => {
      const field = node.items?.fields?.[key]
      if (field && !field.optional) return []
      return [`INI1: items of ${path.join('.')} are known by ${key}, so ${key} must be a required field of theirs`]
    }),
  )
}

function identifiersAreAtTheTop({ parameters }: CheckedKind): string[] {
  return allFields(parameters).flatMap(({ path, node }) =>
    node.identifier && path.length > 1
      ? [
          `POL10: identifier ${path.join('.')} is nested, but must always be given: move it to the top of the parameters`,
        ]
      : [],
  )
}

function addedNamesDoNotCollide({ parameters }: CheckedKind): string[] {
  const paths = new Set(allFields(parameters).map(({ path }) => path.join('.')))
  return allFields(parameters).flatMap(({ path, node }) => {
    const name = path.at(-1)!
    const fields = node.reference ? referenceFields(name, node) : undefined
    const added = [...(fields ? [fields.ref, fields.selector] : []), ...(node.sensitive ? [secretRefField(name)] : [])]
    const clashes = added.filter((field) => paths.has([...path.slice(0, -1), field].join('.')))
    return clashes.map(
      (field) => `MR10: ${path.join('.')} adds a field ${field} that is declared too: remove the declared one`,
    )
  })
}

function observationDoesNotRedefine({ parameters, observation }: CheckedKind): string[] {
  const declared = new Map([...fieldsBelow(parameters)].map(({ path, node }) => [path.join('.'), node]))
  return [...fieldsBelow(observation)].flatMap(({ path, node }) => {
    const parameter = declared.get(path.join('.'))
    if (parameter?.sensitive)
      return [`MR9: ${path.join('.')} is sensitive and must not be observed: remove it from the observation`]
    if (!parameter || (parameter.type === 'object' && node.type === 'object')) return []
    return [
      `MR4: ${path.join('.')} is a parameter, so status.atProvider has it already: remove it from the observation`,
    ]
  })
}

function tagsAreAMapOfStrings({ parameters, tagsField }: CheckedKind): string[] {
  if (tagsField === undefined) return []
  const field = parameters.fields?.[tagsField]
  if (field?.type === 'map' && field.items?.type === 'string' && field.shared) return []
  return [`MR13: tags.field ${tagsField} must be s.map(s.string(), { shared: true }), as others tag the resource too`]
}

function repeatableCreatesHaveChosenNames({ idempotentCreate, naming }: CheckedKind): string[] {
  if (!idempotentCreate || naming === 'user-chosen') return []
  return [
    'XN2: only a create under a chosen name can be repeated without harm: set naming to user-chosen, or remove idempotentCreate',
  ]
}

function allFields(node: Node, path: readonly string[] = []): { path: readonly string[]; node: Node }[] {
  return Object.entries(node.fields ?? {}).flatMap(([name, field]) => {
    const here = [...path, name]
    const inner = field.type === 'object' ? field : field.items?.type === 'object' ? field.items : undefined
    return [{ path: here, node: field }, ...(inner ? allFields(inner, here) : [])]
  })
}

function inLists(node: Node): { path: readonly string[]; node: Node }[] {
  return allFields(node).flatMap(({ path, node: field }) => {
    const items = field.items?.type === 'object' ? field.items : undefined
    return items ? allFields(items, path) : []
  })
}
