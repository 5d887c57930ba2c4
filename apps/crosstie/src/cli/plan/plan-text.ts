import { type Json, stringify } from '@crosstie/kube'
import type { Plan, PlannedClaim, PlannedField, PlannedResource, Step, SuppressedStep } from '@crosstie/resources'
import { type Paint, shortened } from '../shared/terminal.js'

const VALUE_SHOWN = 100

const signs: Readonly<Record<PlannedResource['outcome'], string>> = {
  create: '+',
  update: '~',
  delete: '-',
  release: '-',
  adjust: '~',
  wait: '…',
  paused: '=',
  none: '=',
  error: '!',
}

const words: Readonly<Record<PlannedResource['outcome'], string>> = {
  create: 'will be created',
  update: 'will be updated',
  delete: 'will be deleted, with its data',
  release: 'will be released; the external resource stays',
  adjust: 'stays as it is; only the object changes',
  wait: 'waits',
  paused: 'is paused',
  none: 'is up to date',
  error: 'cannot be planned',
}

/** Formats a plan for people: the changes by field, and a summary. */
export function planText(plan: Plan, paint: Paint): readonly string[] {
  const shown = plan.resources.filter((each) => !isQuiet(each))
  return [
    ...(plan.claims ?? []).flatMap((each) => [...claimText(each, paint), '']),
    ...shown.flatMap((each) => [...resourceText(each, paint), '']),
    summaryText(plan, paint),
  ]
}

function claimText(claim: PlannedClaim, paint: Paint): readonly string[] {
  const { kind, namespace, name, because, resources, error } = claim
  const label = `${kind.toLowerCase()}.${claim.apiVersion.split('/')[0]}/${name}${namespace ? ` -n ${namespace}` : ''}`
  if (error) return [`${paint.red(`! ${label}`)} cannot be planned: ${error}`]
  if (resources.length === 0) return [`${paint.dim(`… ${label}`)} waits${because ? `: ${because}` : ''}`]
  const by = claim.class ? ` with ${claim.class}` : ''
  return [
    `${paint.bold(`> ${label}`)} is met${by}`,
    ...resources.map((each) => `    ${each.kind.toLowerCase()}.${each.apiVersion.split('/')[0]}/${each.name}`),
  ]
}

const isQuiet = ({ outcome, suppressed }: PlannedResource): boolean => outcome === 'none' && suppressed.length === 0

function resourceText(resource: PlannedResource, paint: Paint): readonly string[] {
  const { outcome, externalName, because, steps, suppressed, error } = resource
  const group = resource.apiVersion.split('/')[0]
  const name = `${resource.kind.toLowerCase()}.${group}/${resource.name}`
  const known = externalName && externalName !== resource.name ? ` (${externalName.replace(/^\((.*)\)$/, '$1')})` : ''
  const why = outcome === 'wait' ? `: ${because}` : error ? `: ${error}` : ''
  // A difference that stays is never called up to date.
  const differs = outcome === 'none' && suppressed.length > 0
  const sign = differs ? '≠' : signs[outcome]
  const heading = paintSign(paint, sign)(`${sign} ${name}`)
  return [
    `${heading}${known} ${differs ? 'differs, and stays as it is' : words[outcome]}${why}`,
    ...(resource.hidden ? [paint.dim('    fields are not shown: you may not read this resource')] : []),
    ...steps.flatMap((step) => stepText(step, paint)),
    ...suppressed.flatMap((step) => suppressedText(step, paint)),
    ...approvalText(resource, paint),
  ]
}

const headings: Readonly<Record<Step['action'], string>> = {
  create: '',
  update: '',
  delete: '',
  release: '',
  lateInitialize: 'filled into the object, as the provider chose:',
  resolveReferences: 'filled into the object, from references:',
  writeConnectionSecret: 'written to the connection Secret',
}

function stepText(step: Step, paint: Paint): readonly string[] {
  const heading = headings[step.action]
  const where = step.secret ? ` ${step.secret}${step.fields.length > 0 ? ':' : ''}` : ''
  const indent = heading ? '      ' : '    '
  const lines = step.fields.map((field) => `${indent}${fieldText(field, step, paint)}`)
  return heading ? [paint.dim(`    ${heading}${where}`), ...lines] : lines
}

function fieldText(field: PlannedField, { action, fields }: Pick<Step, 'action' | 'fields'>, paint: Paint): string {
  const width = Math.max(...fields.map(({ path }) => path.length))
  const sign = action === 'create' || field.from === undefined ? '+' : hasNoValue(field) ? '-' : '~'
  const to = valueText(field)
  const values = field.from === undefined || field.sensitive ? to : `${jsonText(field.from)} → ${to}`
  return paintSign(paint, sign)(`${sign} ${field.path.padEnd(Math.min(width, 40))}  ${values}`.trimEnd())
}

const hasNoValue = ({ to, sensitive, unknown }: PlannedField): boolean => to === undefined && !sensitive && !unknown

function valueText(field: PlannedField): string {
  if (field.generated) return '(generated)'
  if (field.sensitive) return '(sensitive)'
  if (field.unknown) return '(known after creation)'
  return field.to === undefined ? '(none)' : jsonText(field.to)
}

const jsonText = (value: Json): string => shortened(stringify(value), VALUE_SHOWN)

function suppressedText({ action, because, fields }: SuppressedStep, paint: Paint): readonly string[] {
  const lines = fields.map((field) => `      ${field.path}  ${differenceText(field)}`)
  return [paint.yellow(`    not done: ${wordsFor[action]}: ${because}`), ...lines.map(paint.dim)]
}

const wordsFor: Readonly<Record<SuppressedStep['action'], string>> = {
  create: 'to create it',
  update: 'to change it',
  delete: 'to delete it',
  lateInitialize: 'to fill in what the provider chose',
  observe: 'to note what is there',
}

function differenceText(field: PlannedField): string {
  return field.from === undefined ? valueText(field) : `${jsonText(field.from)}, wanted ${valueText(field)}`
}

function approvalText({ approval, digest, outcome }: PlannedResource, paint: Paint): readonly string[] {
  if (approval === 'NotRequired' || (!digest && outcome !== 'create')) return []
  if (!digest) return [paint.yellow('    needs approval, once all its values are known')]
  const state = { Required: 'needs approval', Stale: 'needs approval again: what was approved is something else' }
  const text = approval === 'Approved' ? 'approved' : state[approval]
  return [(approval === 'Approved' ? paint.green : paint.yellow)(`    ${text} (${digest.slice(0, 19)})`)]
}

function paintSign(paint: Paint, sign: string): (text: string) => string {
  if (sign === '+') return paint.green
  if (sign === '~' || sign === '≠') return paint.yellow
  return sign === '-' || sign === '!' ? paint.red : paint.dim
}

function summaryText({ summary }: Plan, paint: Paint): string {
  const { create, update, delete: gone, release, adjust, wait, paused, none, error } = summary
  const main = `${create} to create, ${update} to update, ${gone} to delete`
  const rest = [
    [adjust, 'to note'],
    [release, 'to let go'],
    [none, 'unchanged'],
    [wait, 'waiting'],
    [paused, 'paused'],
    [error, 'with errors'],
  ] as const
  const more = rest.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`)
  return paint.bold(`Plan: ${main}${more.length > 0 ? `; ${more.join(', ')}` : ''}.`)
}
