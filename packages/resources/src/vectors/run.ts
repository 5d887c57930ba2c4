import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { runConditions } from './conditions.js'
import { runExternalNames } from './externalname.js'
import { runFieldPaths } from './fieldpath.js'
import { runPolicies } from './policies.js'
import { runReconciles } from './reconcile.js'
import { runReferences } from './reference.js'
import { Report, type Vector } from './report.js'

/** Which suite a file of vectors belongs to is told by a list that it must hold, not by its name. */
const suites: readonly { readonly holds: string; run(file: Vector, report: Report): void | Promise<void> }[] = [
  { holds: 'expand', run: runFieldPaths },
  { holds: 'markConditions', run: runConditions },
  { holds: 'clusterObjects', run: runReferences },
  { holds: 'outcomes', run: runReconciles },
  { holds: 'createIncomplete', run: runExternalNames },
  { holds: 'cases', run: runPolicies },
]

/** Runs every file of vectors (`*.json`, `*.json.gz`) in the folder. */
export async function runVectors(folder: string): Promise<Report> {
  const report = new Report()
  for (const name of readdirSync(folder).sort()) {
    if (!/\.json(\.gz)?$/.test(name)) continue
    const bytes = readFileSync(join(folder, name))
    const file = JSON.parse((name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')) as Vector
    const suite = suites.find(({ holds }) => holds in file)
    if (suite) await suite.run(file, report)
    else report.fail(name, 'no suite knows this layout')
  }
  return report
}
