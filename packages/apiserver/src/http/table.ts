import {
  compileJsonPath,
  humanDuration,
  isObject,
  type JsonPath,
  JsonPathError,
  type KubeObject,
  printJson,
  printNumber,
  stringify,
} from '@crosstie/kube'
import { ageColumn, nameColumn } from '../definitions/columns.js'
import type { Column } from '../definitions/definition.js'
import type { Served, View } from '../serving/served.js'
import { memberOf } from '../wire/member.js'
import type { Writer } from '../wire/writer.js'
import type { Media } from './media.js'

/** A row of a Table. */
export interface TableRow {
  readonly cells: readonly unknown[]
  readonly object?: unknown
}

/** The part of the object in a table row. */
export type IncludeObject = 'None' | 'Metadata' | 'Object'

interface TableColumn {
  readonly definition: Readonly<Record<string, unknown>>
  readonly cell: (object: KubeObject, now: number) => unknown
}

const compiled = new WeakMap<Served, readonly TableColumn[]>()

/** Returns the columns of a kind in `kubectl get`. */
function columnsOf(served: Served): readonly TableColumn[] {
  let columns = compiled.get(served)
  if (!columns) {
    columns = readable(served.version.columns)
    compiled.set(served, columns)
  }
  return columns
}

/** A CRD may have a column with an invalid path. As on kube-apiserver, the columns before it are shown. */
function readable(columns: readonly Column[]): readonly TableColumn[] {
  const shown: TableColumn[] = []
  try {
    for (const column of columns) shown.push(compileColumn(column))
  } catch (error) {
    if (!(error instanceof JsonPathError)) throw error
  }
  return shown
}

interface MetaValue {
  readonly apiVersion: string
  readonly rows?: readonly unknown[]
}

/** Returns a Table or PartialObjectMetadata, with its rows, in the requested version of meta.k8s.io. */
export function inMetaVersion<T extends MetaValue>({ asVersion }: Pick<Media, 'asVersion'>, value: T): T {
  if (value.apiVersion === `meta.k8s.io/${asVersion}`) return value
  const apiVersion = `meta.k8s.io/${asVersion}`
  const rows = value.rows?.map((row) =>
    isObject(row) && isObject(row['object']) && row['object']['kind'] === 'PartialObjectMetadata'
      ? { ...row, object: { ...row['object'], apiVersion } }
      : row,
  )
  return { ...value, apiVersion, ...(rows ? { rows } : {}) }
}

/** Returns the row of an object. */
export function tableRow(served: Served, object: KubeObject, include: IncludeObject, now: number): TableRow {
  const cells = columnsOf(served).map(({ cell }) => cell(object, now) ?? null)
  if (include === 'None') return { cells, object: null }
  return { cells, object: include === 'Object' ? object : partial(object) }
}

/** Returns the metadata of an object as PartialObjectMetadata. */
export function partial({ metadata }: KubeObject): KubeObject {
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata }
}

const quotedMetadata = Buffer.from('"metadata"')

/**
 * Writes the JSON of a row with metadata. The metadata is copied from the stored JSON of the object if possible,
 * because encoding it is most of the cost of a long table.
 */
export function writeTableRow(out: Writer, served: Served, { object, bytes }: View, now: number): void {
  const json = bytes && bufferOf(bytes)
  const range = json && memberOf(json, quotedMetadata)
  if (!range) {
    out.text(stringify(tableRow(served, object, 'Metadata', now)))
    return
  }
  let cells = ''
  for (const { cell } of columnsOf(served)) cells += `${cells === '' ? '' : ','}${cellText(cell(object, now))}`
  out.text(`{"cells":[${cells}],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":`)
  out.copy(json, range[0], range[1])
  out.copy(rowEnd)
}

const rowEnd = Buffer.from('}}')
/** Text that JSON does not escape. */
const PLAIN = /^[ !#-[\]-~]*$/

function cellText(value: unknown): string {
  if (typeof value === 'string' && PLAIN.test(value)) return `"${value}"`
  return value === undefined ? 'null' : stringify(value)
}

const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const scaleColumns: readonly Column[] = [
  nameColumn,
  { name: 'Desired', type: 'integer', description: 'How many there should be.', jsonPath: '.spec.replicas' },
  { name: 'Available', type: 'integer', description: 'How many there are.', jsonPath: '.status.replicas' },
  ageColumn,
]

/** `kubectl get --subresource=scale`. */
export function scaleTable(scale: KubeObject, now: number): unknown {
  const columns = scaleColumns.map(compileColumn)
  const cells = columns.map(({ cell }) => cell(scale, now) ?? 0)
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { resourceVersion: scale.metadata.resourceVersion },
    columnDefinitions: columns.map(({ definition }) => definition),
    rows: [{ cells, object: partial(scale) }],
  }
}

/** Returns the column definitions of a Table. */
export function columnDefinitions(served: Served): readonly unknown[] {
  return columnsOf(served).map(({ definition }) => definition)
}

function compileColumn(column: Column): TableColumn {
  const { name, type, format = '', description = '', priority = 0 } = column
  const definition = { name, type, format, description: description || defaultDescription(column), priority }
  if (column.cell) return { definition, cell: column.cell }
  const path = compileJsonPath(column.jsonPath ?? '')
  const ageOf = type === 'date' ? rememberingAge() : age
  return { definition, cell: (object, now) => cellOf(type, path, object, now, ageOf) }
}

/** Caches the last age. Objects that were created together have the same age and are adjacent in a list. */
function rememberingAge(): typeof age {
  let last: { readonly time: string | undefined; readonly now: number; readonly text: string } | undefined
  return (time, now) => {
    if (last?.time !== time || last?.now !== now) last = { time, now, text: age(time, now) }
    return last!.text
  }
}

function defaultDescription({ jsonPath }: Column): string {
  return jsonPath ? `Custom resource definition column (in JSONPath format): ${jsonPath}` : ''
}

function cellOf(type: string, path: JsonPath, object: KubeObject, now: number, ageOf: typeof age): unknown {
  const [value] = path(object)
  if (value === null && type === 'string') return '<no value>'
  if (value === undefined || value === null) return undefined
  switch (type) {
    case 'string':
      return printed(value)
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : typeof value === 'bigint' ? value : undefined
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint' ? value : undefined
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined
    case 'date':
      return typeof value === 'string' ? ageOf(value, now) : undefined
    default:
      return undefined
  }
}

function printed(value: unknown): string {
  if (typeof value === 'object') return printJson(value)
  return typeof value === 'number' ? printNumber(value) : String(value)
}

/** Returns the age as kubectl prints it, such as `5m` or `3d4h`. `<unknown>` without a time. */
export function age(time: string | undefined, now: number): string {
  const then = time ? Date.parse(time) : Number.NaN
  if (!time) return '<unknown>'
  return Number.isNaN(then) ? '<invalid>' : humanDuration(now - then)
}
