import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { isObject, messageOf } from '@crosstie/kube'
import { runConditions } from './conditions.js'
import { runExternalNames } from './externalname.js'
import { runFieldPaths } from './fieldpath.js'
import { runPolicies } from './policies.js'
import { runReconciles } from './reconcile.js'
import { runReferences } from './reference.js'
import { Report, type Vector } from './report.js'

interface Suite {
  /** The lists of vectors that the suite runs. */
  readonly lists: readonly string[]
  /** Other fields of its files. */
  readonly beside: readonly string[]
  run(file: Vector, report: Report): void | Promise<void>
}

const suites: Readonly<Record<string, Suite>> = {
  fieldpath: {
    lists: ['parse', 'get', 'getTyped', 'set', 'delete', 'expand', 'merge'],
    beside: ['docs', 'docsText'],
    run: runFieldPaths,
  },
  conditions: {
    lists: ['constructors', 'conditionEqual', 'setConditions', 'markConditions', 'statusEqual', 'getCondition'],
    beside: ['systemTypes'],
    run: runConditions,
  },
  reference: {
    lists: ['single', 'multi', 'namespacedSingle', 'namespacedMulti', 'valueAdapters', 'fromFloat'],
    beside: ['clusterObjects', 'namespacedObjects', 'fromControllerUID'],
    run: runReferences,
  },
  externalname: {
    lists: [
      'externalName',
      'nameAsExternalName',
      'createIncomplete',
      'createSucceededDuring',
      'createAnnotationFormat',
      'createAnnotationParse',
      'paused',
      'pollInterval',
      'reconcileRequest',
      'finalizers',
      'haveSameController',
      'addControllerReference',
      'lateInit',
      'publishConnection',
      'criticalAnnotations',
      'desiredStateChanged',
      'externalTags',
    ],
    beside: ['lateInitSticky', 'backoffSeconds'],
    run: runExternalNames,
  },
  reconcile: {
    lists: ['outcomes'],
    beside: ['cases', 'groups', 'quirkCounts', 'caseCount', 'outcomeCount'],
    run: runReconciles,
  },
  policies: { lists: ['cases'], beside: [], run: runPolicies },
}

/**
 * Runs every file of vectors (`*.json`, `*.json.gz`) in the folder. An invalid file or vector counts as failed. Unknown
 * lists and files without known lists count as skipped.
 */
export async function runVectors(folder: string): Promise<Report> {
  const report = new Report()
  for (const name of readdirSync(folder).sort()) {
    if (/\.json(\.gz)?$/.test(name)) await report.attempt(name, () => runFile(join(folder, name), name, report))
  }
  return report
}

async function runFile(path: string, name: string, report: Report): Promise<void> {
  const file = read(path)
  const suite = isObject(file) ? suiteOf(name, file) : undefined
  if (!suite) return report.skip(`${name} holds no vectors of a kind that is known here`)
  for (const [list, vectors] of Object.entries(file as Vector)) {
    const known = list === 'source' || suite.lists.includes(list) || suite.beside.includes(list)
    if (!known) report.skip(`${name}: nobody here knows ${list}`, Array.isArray(vectors) ? vectors.length : 1)
  }
  await suite.run(file as Vector, report)
}

function read(path: string): unknown {
  const bytes = readFileSync(path)
  try {
    return JSON.parse((path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8'))
  } catch (error) {
    throw new Error(`it is not JSON: ${messageOf(error)}`, { cause: error })
  }
}

/** Returns the suite of a file by its lists. The name of the file decides if several suites match. */
function suiteOf(name: string, file: object): Suite | undefined {
  const holds = ({ lists }: Suite) => lists.some((list) => list in file)
  const named = suites[name.replace(/\.json(\.gz)?$/, '')]
  return named && holds(named) ? named : Object.values(suites).find(holds)
}
