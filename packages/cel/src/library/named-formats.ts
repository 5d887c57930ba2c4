import { declare, type FunctionDeclaration, member, overload } from '../functions.js'
import { formatCheck } from '../kubernetes/formats/index.js'
import {
  isDNS1035Label,
  isDNS1123Label,
  isDNS1123Subdomain,
  isQualifiedName,
  isValidLabelValue,
} from '../kubernetes/names.js'
import { listOf, optionalOf, structType, types } from '../types.js'
import { ArrayList, CelObject, CelOptional, noSuchOverload, type Value } from '../values.js'
import { requestUriError } from './url.js'

const { string } = types
const formatType = structType('kubernetes.NamedFormat')

class CelFormat extends CelObject {
  readonly type = formatType
  constructor(
    readonly name: string,
    /** The size of the pattern, or of a similar one, which determines the cost. */
    readonly maxRegexSize: number,
    readonly validate: (text: string) => readonly string[],
  ) {
    super()
  }
  equals(other: Value): boolean {
    return other instanceof CelFormat ? this.name === other.name : noSuchOverload()
  }
}

/** Validates the prefix of a generated name: a trailing dash is allowed. */
const prefix = (check: (text: string) => string[]) => (text: string) =>
  check(text.length > 1 && text.endsWith('-') ? `${text.slice(0, -2)}a` : text)

const schemaFormat = (format: string, complaint: string) => (text: string) =>
  formatCheck(format)!(text) ? [] : [complaint]

const uuidPatternSize = '(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$'.length
const dateTimePatternSize = '^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$'.length

const formats: ReadonlyMap<string, CelFormat> = new Map([
  ['dns1123Label', new CelFormat('DNS1123Label', 30, isDNS1123Label)],
  ['dns1123Subdomain', new CelFormat('DNS1123Subdomain', 60, isDNS1123Subdomain)],
  ['dns1035Label', new CelFormat('DNS1035Label', 30, isDNS1035Label)],
  ['qualifiedName', new CelFormat('QualifiedName', 60, isQualifiedName)],
  ['dns1123LabelPrefix', new CelFormat('DNS1123LabelPrefix', 30, prefix(isDNS1123Label))],
  ['dns1123SubdomainPrefix', new CelFormat('DNS1123SubdomainPrefix', 60, prefix(isDNS1123Subdomain))],
  ['dns1035LabelPrefix', new CelFormat('DNS1035LabelPrefix', 30, prefix(isDNS1035Label))],
  ['labelValue', new CelFormat('LabelValue', 40, isValidLabelValue)],
  [
    'uri',
    new CelFormat('URI', 1103, (text) => {
      const error = requestUriError(text)
      return error === undefined ? [] : [error]
    }),
  ],
  ['uuid', new CelFormat('uuid', uuidPatternSize, schemaFormat('uuid', 'does not match the UUID format'))],
  ['byte', new CelFormat('byte', 84, schemaFormat('byte', 'invalid base64'))],
  ['date', new CelFormat('date', dateTimePatternSize, schemaFormat('date', 'invalid date'))],
  ['datetime', new CelFormat('datetime', dateTimePatternSize, schemaFormat('datetime', 'invalid datetime'))],
])

/** The named formats of Kubernetes for names and values. */
export const namedFormatsLibrary: readonly FunctionDeclaration[] = [
  declare('validate', [
    member('format-validate', [formatType, string], optionalOf(listOf(string)), (format: CelFormat, text: string) => {
      const errors = format.validate(text)
      return errors.length === 0 ? CelOptional.none : CelOptional.of(new ArrayList(errors))
    }),
  ]),
  declare('format.named', [
    overload('format-named', [string], optionalOf(formatType), (name: string) => {
      const format = formats.get(name)
      return format ? CelOptional.of(format) : CelOptional.none
    }),
  ]),
  ...[...formats].map(([name, format]) => {
    return declare(`format.${name}`, [overload(`format.${name}`, [], formatType, () => format)])
  }),
]
