import type { JSONSchemaProps } from '@crosstie/cel/kubernetes'
import { append } from '../../arrays.js'
import { type FieldError, fieldErrors, fieldErrorText } from '../../errors.js'
import { equal } from '../../json.js'
import { validateObjectMeta, validateObjectMetaUpdate } from '../../metadata.js'
import { approvalErrors } from './approval.js'
import { defaultErrors, hasUnprunedDefault } from './defaultvalues.js'
import { type InternalSpec, noNames, printSchema, schemasOf, toInternal } from './internal.js'
import { hasGranularSet, hasLooseListKeys, hasUnknownType, keywordErrors, type Strictness } from './openapi.js'
import * as spec from './spec.js'
import { isStructural, structuralErrors, structuralProblem } from './structural.js'
import { type CustomResourceDefinition, type DefinitionSubresources, hasCondition } from './types.js'
import { isStated, schemaHas } from './walk.js'

const { required, invalid, forbidden } = fieldErrors

/** Callbacks and options of the validation of a definition. */
export interface DefinitionChecks {
  /** Compiles the CEL rules of a schema. Returns errors about their syntax, types and cost. */
  readonly checkRules?: (
    schema: JSONSchemaProps,
    path: string,
    options: {
      /** The schemas of all versions before an update. Their expressions were accepted before and stay valid. */
      readonly oldSchemas?: readonly JSONSchemaProps[] | undefined
      /** Whether the schema of this version did not change. */
      readonly unchanged?: boolean
    },
  ) => readonly FieldError[]
  /** Validates a default by the CEL rules of a schema. */
  readonly checkDefault?: (schema: JSONSchemaProps, value: unknown, path: string) => readonly FieldError[]
  /** Whether to validate metadata. Off if that was done before; the rule for the name always applies. */
  readonly metadata?: boolean
  /** Returns the reason why base64-encoded PEM does not contain a certificate authority, or undefined if it does. */
  readonly caBundleError?: ((caBundle: string) => string | undefined) | undefined
}

/** The parts of the validation that are skipped because an earlier server accepted the definition. */
interface Leniency extends Strictness {
  readonly requireSchema: boolean
  readonly structural: boolean
  readonly prunedDefaults: boolean
  readonly recognizedReviewVersion: boolean
  readonly validCABundle: boolean
}

/**
 * Validates a new or changed definition after defaulting. Returns field errors as kube-apiserver words and orders
 * them.
 */
export function validateCustomResourceDefinition(
  crd: CustomResourceDefinition,
  old?: CustomResourceDefinition,
  checks: DefinitionChecks = {},
): FieldError[] {
  const internal = toInternal(crd.spec)
  const leniency = old ? leniencyAfter(old, checks) : strict
  const errors = checks.metadata === false ? [] : generalMetadataErrors(crd, old)
  if (!old) append(errors, definitionNameErrors(crd))
  append(errors, specErrors(internal, old && toInternal(old.spec), leniency, checks))
  if (old) append(errors, immutableErrors(crd, old))
  append(errors, spec.nameErrors(crd.status?.acceptedNames ?? noNames, 'status.acceptedNames'))
  const versions = crd.spec.versions ?? []
  append(errors, spec.storedVersionErrors(crd.status?.storedVersions, versions, 'status.storedVersions'))
  append(errors, approvalErrors(crd, old))
  if (crd.spec.preserveUnknownFields === true && old?.spec.preserveUnknownFields !== true) {
    const detail =
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead'
    errors.push(invalid('spec.preserveUnknownFields', true, detail))
  }
  return withoutRepetition(errors)
}

/** Validates an update of the status. */
export function validateDefinitionStatusUpdate(
  crd: CustomResourceDefinition,
  old: CustomResourceDefinition,
  checks: Pick<DefinitionChecks, 'metadata'> = {},
): FieldError[] {
  const errors = checks.metadata === false ? [] : validateObjectMetaUpdate(crd.metadata, old.metadata)
  return [...errors, ...spec.nameErrors(crd.status?.acceptedNames ?? noNames, 'status.acceptedNames')]
}

function withoutRepetition(errors: readonly FieldError[]): FieldError[] {
  return [...new Map(errors.map((error) => [fieldErrorText(error), error])).values()]
}

function generalMetadataErrors(crd: CustomResourceDefinition, old: CustomResourceDefinition | undefined): FieldError[] {
  if (old) return validateObjectMetaUpdate(crd.metadata, old.metadata)
  return validateObjectMeta(crd.metadata, { namespaced: false, nameRule: 'dnsSubdomain' })
}

/** Validates that the name is built from the plural and the group. */
function definitionNameErrors(crd: CustomResourceDefinition): FieldError[] {
  const errors: FieldError[] = []
  const wanted = `${crd.spec.names?.plural ?? ''}.${crd.spec.group ?? ''}`
  const detail = 'must be spec.names.plural+"."+spec.group'
  for (const key of ['generateName', 'name'] as const) {
    const name = crd.metadata[key]
    if (name && name !== wanted) errors.push(invalid(`metadata.${key}`, name, detail))
  }
  return errors
}

const strict: Leniency = {
  requireSchema: true,
  structural: true,
  prunedDefaults: true,
  validTypes: true,
  atomicSets: true,
  listMapKeys: true,
  recognizedReviewVersion: true,
  // Objects are not converted yet, so that an invalid bundle may still be corrected.
  validCABundle: false,
}

function leniencyAfter(old: CustomResourceDefinition, checks: DefinitionChecks): Leniency {
  const before = toInternal(old.spec)
  const schemas = schemasOf(before)
  const none = (holds: (schema: JSONSchemaProps) => boolean) => !schemas.some((schema) => schemaHas(schema, holds))
  const reviewVersions = before.conversion?.reviewVersions ?? []
  const bundle = before.conversion?.clientConfig?.caBundle
  const hadBadBundle = bundle !== undefined && bundle !== '' && checks.caBundleError?.(bundle) !== undefined
  return {
    requireSchema:
      Boolean(before.validation?.openAPIV3Schema) || before.versions.every((v) => v.schema?.openAPIV3Schema),
    structural: schemas.every(isStructural),
    prunedDefaults: !schemas.some((schema) => isStructural(schema) && hasUnprunedDefault(schema)),
    validTypes: none(hasUnknownType),
    atomicSets: none(hasGranularSet),
    listMapKeys: none(hasLooseListKeys),
    recognizedReviewVersion: reviewVersions.length === 0 || reviewVersions.some(spec.isReviewVersion),
    validCABundle: hasCondition(old, 'Established') && !hadBadBundle,
  }
}

function specErrors(
  now: InternalSpec,
  old: InternalSpec | undefined,
  leniency: Leniency,
  checks: DefinitionChecks,
): FieldError[] {
  const errors = spec.groupErrors(now.group, 'spec.group')
  append(errors, spec.oneOfErrors(now.scope, ['Cluster', 'Namespaced'], 'spec.scope'))
  append(errors, missingSchemaErrors(now, leniency))
  const schemas = schemasOf(now)
  const hasDefaults = schemas.some((schema) => schemaHas(schema, ({ default: value }) => (value ?? null) !== null))
  if (hasDefaults && now.preserveUnknownFields) {
    const detail = 'must be false in order to use defaults in the schema'
    errors.push(invalid('spec.preserveUnknownFields', true, detail))
  }
  const extended = schemas.some((schema) => schemaHas(schema, hasExtension))
  const structural = leniency.structural || !now.preserveUnknownFields || hasDefaults || extended
  const context: SchemaContext = { leniency: { ...leniency, structural }, checks, old }

  now.versions.forEach((version, i) => {
    const at = `spec.versions[${i}]`
    append(errors, spec.labelErrors(version.name, `${at}.name`))
    append(errors, spec.deprecationErrors(version, `${at}.deprecationWarning`))
    const hasStatus = Boolean((anyHasSubresources(now) ? version.subresources : now.subresources)?.status)
    append(errors, validationErrors(version.schema, version.name, hasStatus, `${at}.schema`, context))
    append(errors, partErrors(version.subresources, version.additionalPrinterColumns ?? [], at))
    append(errors, versionSelectableErrors(version, at))
  })
  append(errors, spec.versionSetErrors(now, 'spec.versions'))
  const first = now.versions[0]?.name
  if (first) append(errors, spec.labelErrors(first, 'spec.version'))
  append(errors, spec.requiredNameErrors(now.names, 'spec.names'))
  append(errors, spec.nameErrors(now.names, 'spec.names'))
  const anyStatus = [now.subresources, ...now.versions.map((v) => v.subresources)].some((sub) => sub?.status)
  append(errors, validationErrors(now.validation, first, anyStatus, 'spec.validation', context))
  append(errors, partErrors(now.subresources, now.columns, 'spec'))
  append(errors, sharedSelectableErrors(now))
  errors.push(
    ...spec.conversionErrors(now, 'spec.conversion', {
      recognizedReviewVersion: leniency.recognizedReviewVersion,
      caBundleError: leniency.validCABundle ? checks.caBundleError : undefined,
    }),
  )
  return errors
}

const anyHasSubresources = ({ versions }: InternalSpec) => versions.some((version) => version.subresources)

function hasExtension(schema: JSONSchemaProps): boolean {
  return (
    schema['x-kubernetes-embedded-resource'] === true ||
    isStated(schema['x-kubernetes-preserve-unknown-fields']) ||
    schema['x-kubernetes-preserve-unknown-fields'] === false ||
    schema['x-kubernetes-int-or-string'] === true ||
    (schema['x-kubernetes-list-map-keys'] ?? []).length > 0 ||
    isStated(schema['x-kubernetes-list-type']) ||
    (schema['x-kubernetes-validations'] ?? []).length > 0
  )
}

function missingSchemaErrors(
  { validation, versions, preserveUnknownFields }: InternalSpec,
  { requireSchema }: Leniency,
) {
  if (validation?.openAPIV3Schema || (!requireSchema && preserveUnknownFields)) return []
  return versions.flatMap((version, i) => {
    if (version.schema?.openAPIV3Schema || (!requireSchema && !version.served)) return []
    const detail = requireSchema ? '' : 'because otherwise all fields are pruned'
    return [required(`spec.versions[${i}].schema.openAPIV3Schema`, detail)]
  })
}

function partErrors(
  subresources: DefinitionSubresources | undefined,
  columns: InternalSpec['columns'],
  path: string,
): FieldError[] {
  const errors = subresources ? spec.subresourceErrors(subresources, `${path}.subresources`) : []
  columns.forEach((column, i) => {
    append(errors, spec.columnErrors(column, `${path}.additionalPrinterColumns[${i}]`))
  })
  return errors
}

function versionSelectableErrors(version: InternalSpec['versions'][number], at: string): FieldError[] {
  const { selectableFields = [], schema } = version
  if (selectableFields.length === 0) return []
  if (!schema?.openAPIV3Schema) {
    const detail = 'may only be set when `version.schema.openAPIV3Schema` is not included'
    return [invalid(`${at}.selectableFields`, '', detail)]
  }
  return selectableErrors(selectableFields, schema.openAPIV3Schema, at)
}

function sharedSelectableErrors({ selectableFields, validation }: InternalSpec): FieldError[] {
  if (selectableFields.length === 0) return []
  if (!validation) {
    return [invalid('spec.selectableFields', '', 'may only be set when validations.schema is included')]
  }
  return selectableErrors(selectableFields, validation.openAPIV3Schema, 'spec')
}

function selectableErrors(
  fields: InternalSpec['selectableFields'],
  schema: JSONSchemaProps | undefined,
  at: string,
): FieldError[] {
  const problem = schema && structuralProblem(schema)
  const errors = problem ? [invalid(`${at}.schema.openAPIV3Schema`, '', problem)] : []
  return [...errors, ...spec.selectableFieldErrors(fields, schema, `${at}.selectableFields`)]
}

interface SchemaContext {
  readonly leniency: Leniency
  readonly checks: DefinitionChecks
  readonly old: InternalSpec | undefined
}

function validationErrors(
  validation: { readonly openAPIV3Schema?: JSONSchemaProps } | undefined,
  version: string | undefined,
  hasStatus: boolean,
  at: string,
  { leniency, checks, old }: SchemaContext,
): FieldError[] {
  const schema = validation?.openAPIV3Schema
  if (!schema) return []
  const path = `${at}.openAPIV3Schema`
  const errors = hasStatus ? statusRootErrors(schema, path) : []
  if (schema.nullable) errors.push(forbidden(`${path}.nullable`, 'nullable cannot be true at the root'))
  const problem = leniency.structural ? structuralProblem(schema) : undefined
  const structure = leniency.structural && problem === undefined ? structuralErrors(schema, path) : []
  if (leniency.structural && problem === undefined && structure.length === 0) {
    structure.push(
      ...defaultErrors(schema, path, { pruned: leniency.prunedDefaults, checkDefault: checks.checkDefault }),
    )
  }
  const keywords = keywordErrors(schema, path, leniency)
  append(errors, structure)
  append(errors, keywords)
  const sound = leniency.structural && problem === undefined && structure.length === 0 && keywords.length === 0
  if (sound && checks.checkRules) {
    const unchanged = old !== undefined && equal(schemaOfVersion(old, version), schema)
    append(errors, checks.checkRules(schema, path, { oldSchemas: old && schemasOf(old), unchanged }))
  }
  if (errors.length === 0 && problem !== undefined) errors.push(invalid(path, '', problem))
  return errors
}

function schemaOfVersion(
  { validation, versions }: InternalSpec,
  name: string | undefined,
): JSONSchemaProps | undefined {
  return (validation ?? versions.find((version) => version.name === name)?.schema)?.openAPIV3Schema
}

const rootKeywords: ReadonlyMap<string, string> = new Map([
  ['description', 'Description'],
  ['type', 'Type'],
  ['format', 'Format'],
  ['title', 'Title'],
  ['maximum', 'Maximum'],
  ['exclusiveMaximum', 'ExclusiveMaximum'],
  ['minimum', 'Minimum'],
  ['exclusiveMinimum', 'ExclusiveMinimum'],
  ['maxLength', 'MaxLength'],
  ['minLength', 'MinLength'],
  ['pattern', 'Pattern'],
  ['maxItems', 'MaxItems'],
  ['minItems', 'MinItems'],
  ['uniqueItems', 'UniqueItems'],
  ['multipleOf', 'MultipleOf'],
  ['required', 'Required'],
  ['items', 'Items'],
  ['properties', 'Properties'],
  ['externalDocs', 'ExternalDocs'],
  ['example', 'Example'],
  ['x-kubernetes-preserve-unknown-fields', 'XPreserveUnknownFields'],
  ['x-kubernetes-validations', 'XValidations'],
])

/**
 * Validates the root of a schema with a status subresource. The status is validated alone, so the root may not have
 * validations that depend on other fields.
 */
function statusRootErrors(schema: JSONSchemaProps, path: string): FieldError[] {
  if (isStated(schema.type) && schema.type !== 'object') {
    const before = Object.keys(schema).some((key) => ['id', '$schema', '$ref'].includes(key))
    const detail = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
    if (!before) return [invalid(`${path}.type`, schema.type, detail)]
  }
  const offending = Object.entries(schema).some(
    ([key, value]) =>
      !rootKeywords.has(key) && (isStated(value) || (key === 'additionalProperties' && value === false)),
  )
  if (!offending) return []
  const allowed = `[${[...rootKeywords.values()].join(' ')}]`
  const detail = `only ${allowed} fields are allowed at the root of the schema if the status subresource is enabled`
  return [invalid(path, printSchema(schema), detail)]
}

function immutableErrors(crd: CustomResourceDefinition, old: CustomResourceDefinition): FieldError[] {
  const errors: FieldError[] = []
  const compare = (path: string, value: unknown, before: unknown) => {
    if (!equal(value, before)) errors.push(invalid(path, value ?? '', 'field is immutable'))
  }
  if (hasCondition(old, 'Established')) {
    compare('spec.scope', crd.spec.scope, old.spec.scope)
    compare('spec.names.kind', crd.spec.names?.kind, old.spec.names?.kind)
  }
  compare('spec.group', crd.spec.group, old.spec.group)
  compare('spec.names.plural', crd.spec.names?.plural, old.spec.names?.plural)
  return errors
}
