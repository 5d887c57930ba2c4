import type { JSONSchemaProps } from '@crosstie/cel/kubernetes'
import { formatCheck, quote } from '@crosstie/cel/kubernetes'
import { schemasOf, toInternal } from './internal.js'
import type { CustomResourceDefinition } from './types.js'
import { schemaHas } from './walk.js'

/** Returns warnings about formats of strings that are not validated, unless `old` had them. */
export function definitionWarnings(crd: CustomResourceDefinition, old?: CustomResourceDefinition): string[] {
  const before = new Set(old ? unrecognizedFormats(old) : [])
  return unrecognizedFormats(crd)
    .filter((format) => !before.has(format))
    .map((format) => `unrecognized format ${quote(format)}`)
}

function unrecognizedFormats(crd: CustomResourceDefinition): string[] {
  const formats: string[] = []
  const collect = ({ type, format = '' }: JSONSchemaProps) => {
    if (type === 'string' && format !== '' && !formatCheck(format)) formats.push(format)
    return false
  }
  for (const schema of schemasOf(toInternal(crd.spec))) schemaHas(schema, collect)
  return formats
}
