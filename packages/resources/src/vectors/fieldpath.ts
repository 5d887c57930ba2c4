import {
  deleteFieldValue,
  expandWildcards,
  FieldPathError,
  formatFieldPath,
  getBooleanAt,
  getFieldValue,
  getIntegerAt,
  getStringAt,
  getStringMapAt,
  getStringsAt,
  mergeFieldValue,
  parseFieldPath,
  setFieldValue,
} from '@crosstie/kube'
import { outcomeOf, type Report, type Vector } from './report.js'

/** Runs fieldpath.json. */
export function runFieldPaths(file: Vector, report: Report): void {
  const documents = (file['docs'] ?? {}) as Vector
  const each = (list: string, run: (vector: Vector, document: unknown) => Vector | undefined) => {
    for (const [i, vector] of ((file[list] ?? []) as Vector[]).entries()) {
      if (vector['needsInt64']) report.skip('JSON.parse cannot tell 1.0 from 1, nor keep integers above 2^53')
      else {
        const answer = () => pick(run(vector, documents[vector['doc']]) ?? {})
        report.compare(`fieldpath ${list}[${i}] ${vector['path']}`, answer, pick(answersOf(list, vector)))
      }
    }
  }
  each('parse', ({ path }) =>
    outcomeOf(() => {
      const segments = parseFieldPath(path)
      return { segments, string: formatFieldPath(segments) }
    }),
  )
  each('get', ({ path }, document) => failing(() => ({ value: getFieldValue(document, path) })))
  each('getTyped', ({ path, as }, document) => failing(() => ({ value: readers[as as string]!(document, path) })))
  each('set', (vector, document) => setOutcome(vector, document))
  each('delete', ({ path }, document) =>
    failing(
      () => {
        const after = deleteFieldValue(document, path)
        return { changed: after !== document, ...(after === document ? {} : { after }) }
      },
      { changed: false },
    ),
  )
  each('expand', ({ path }, document) => failing(() => ({ paths: [...expandWildcards(document, path)].sort() })))
  each('merge', ({ path, value, options }, document) =>
    failing(() => ({ result: getFieldValue(mergeFieldValue(document, path, value, options), path) })),
  )
}

const readers: Record<string, (document: unknown, path: string) => unknown> = {
  string: getStringAt,
  integer: getIntegerAt,
  bool: getBooleanAt,
  stringArray: getStringsAt,
  stringObject: getStringMapAt,
}

function setOutcome({ path, value, maxIndex, afterArrayLength }: Vector, document: unknown): Vector {
  return failing(() => {
    const after = setFieldValue(document, path, value, maxIndex === undefined ? {} : { maxIndex })
    if (afterArrayLength === undefined) return { after }
    const array = getFieldValue(after, path.slice(0, path.indexOf('['))) as unknown[]
    return { afterArrayLength: array.length, after: null }
  })
}

const answers = ['segments', 'string', 'error', 'notFound', 'changed', 'after', 'afterArrayLength', 'paths', 'result']

/** Returns the expected results of a vector. `value` is a result in some lists and an input in others. */
function answersOf(list: string, vector: Vector): Vector {
  const value = list === 'get' || list === 'getTyped' ? { value: vector['value'] } : {}
  const answered = Object.fromEntries(answers.map((key) => [key, vector[key]]))
  // Our set is atomic: after an error there is no changed document to compare.
  if (list === 'set' && 'error' in vector) return { ...answered, after: undefined }
  return { ...answered, ...value }
}

/** Returns the vector without undefined values. */
const pick = (vector: Vector): Vector =>
  Object.fromEntries(Object.entries(vector).filter(([, value]) => value !== undefined))

function failing(call: () => Vector, also: Vector = {}): Vector {
  try {
    return call()
  } catch (error) {
    if (!(error instanceof FieldPathError)) throw error
    return { error: error.message, notFound: error.notFound, ...also }
  }
}
