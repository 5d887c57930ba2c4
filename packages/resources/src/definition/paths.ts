import type { JSONSchemaProps } from '@crosstie/kube/schema'
import type { Node } from './schema.js'

/**
 * The paths that `spec.ignoreChanges` accepts, as one regular expression for each kind. The API server evaluates it
 * at admission as a CEL rule. The reconciler uses the same expression, for servers that do not have the rule.
 */

/**
 * The CEL cost of `matches` depends on the lengths of the text and of the expression, so both are limited, as is
 * the number of paths.
 */
const MAX_PATHS = 32
const MAX_PATH_LENGTH = 256
const MAX_PATTERN_LENGTH = 11_000

/** One path step to a field that the schema does not name: `.name` or `[name]`. */
const anyStep = String.raw`(\.[^.\[\]]+|\[[^\[\]]+\])`
const anyPath = `${anyStep}*`
const wildcard = String.raw`(\.\*|\[['"]?\*['"]?\])`
const index = String.raw`(\[([0-9]+|\*)\]|\.\*)`

/**
 * Returns an expression that matches exactly the paths to fields below the node. If the expression would exceed its
 * maximum length, the deepest levels match any path.
 */
export function fieldPathPattern(parameters: Node): string {
  for (let depth = 16; depth > 0; depth--) {
    const pattern = `^(${alternatives(parameters, depth)})$`
    if (pattern.length <= MAX_PATTERN_LENGTH || depth === 1) return pattern
  }
  return '^.+$'
}

/** Returns an expression for paths that start with a field of the object. */
function alternatives(node: Node, depth: number): string {
  const fields = Object.entries(node.fields ?? {})
  return fields.map(([name, field]) => `${escaped(name)}${below(field, depth - 1)}`).join('|')
}

/** Returns an expression for the rest of a path, after this node. The rest may be empty. */
function below(node: Node, depth: number): string {
  if (node.sensitive) return ''
  if (depth === 0) return node.type === 'object' || node.items ? anyPath : ''
  switch (node.type) {
    case 'object':
      return `(${fieldSteps(node, depth)}|${wildcard}${anyPath})?`
    case 'map':
      return `(${anyStep}${below(node.items!, depth - 1)})?`
    case 'list':
      return `(${index}${below(node.items!, depth - 1)})?`
    case 'json':
      return anyPath
    default:
      return ''
  }
}

function fieldSteps(node: Node, depth: number): string {
  const fields = Object.entries(node.fields ?? {})
  const steps = fields.map(([name, field]) => {
    const text = escaped(name)
    return `(\\.${text}|\\[['"]?${text}['"]?\\])${below(field, depth - 1)}`
  })
  return steps.join('|')
}

const escaped = (name: string): string => name.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')

const description =
  'Paths below forProvider, such as scalingConfig.desiredSize or tags[*], that updates leave alone. Each must name a field of the kind.'

const compiled = new WeakMap<Node, RegExp>()

/**
 * Returns the reason why `spec.ignoreChanges` does not accept a path; undefined if the path names a field of the
 * kind.
 */
export function refusedPath(kind: string, parameters: Node, path: string): string | undefined {
  const pattern = compiled.get(parameters) ?? new RegExp(fieldPathPattern(parameters), 'u')
  compiled.set(parameters, pattern)
  return pattern.test(path) ? undefined : `spec.ignoreChanges: ${JSON.stringify(path)} ${refusal(kind)}`
}

const refusal = (kind: string): string =>
  `is not a path to a field of spec.forProvider of ${kind}; kubectl explain ${kind.toLowerCase()}.spec.forProvider lists the fields`

/**
 * Returns the schema of `spec.ignoreChanges` (INI5). A stored list that violates the rule stays valid while it is
 * unchanged, because API servers ratchet validation.
 */
export function ignoreChangesSchema(kind: string, parameters: Node): JSONSchemaProps {
  const rule = `self.matches(${JSON.stringify(fieldPathPattern(parameters))})`
  const message = refusal(kind)
  return {
    type: 'array',
    description,
    maxItems: MAX_PATHS,
    items: {
      type: 'string',
      maxLength: MAX_PATH_LENGTH,
      'x-kubernetes-validations': [
        {
          rule,
          message: `spec.ignoreChanges ${message}`,
          messageExpression: `'spec.ignoreChanges: "' + self + '" ${message}'`,
        },
      ],
    },
  }
}
