import { messageOf } from '@crosstie/kube'
import { applyAll } from '../apply/apply.js'
import type { Input } from '../command.js'
import { openApi } from '../shared/access.js'
import { readManifests } from '../shared/manifests.js'
import { objectName } from '../shared/output.js'
import type { Example } from './examples.js'
import { type Followed, followUntilReady } from './follow.js'

/** The maximum time for a definition to be served, in milliseconds. */
const PATIENCE_MS = 120_000

/** Applies the manifests of an example and follows them until all objects are ready. */
export async function runExample(input: Input, { name, folder }: Example): Promise<void> {
  const { out, err, paint, progress, signal } = input
  out('')
  out(`${paint.bold(`Example ${name}`)} ${paint.dim(folder)}`)
  using api = await openApi(input)
  const manifests = await readManifests([folder])
  const applied: Followed[] = []
  let refused = 0
  await applyAll({
    api,
    manifests,
    dryRun: false,
    force: true,
    fieldManager: 'crosstie',
    patienceMs: PATIENCE_MS,
    progress,
    signal,
    report({ manifest, kind, object, outcome, error }) {
      if (error === undefined) {
        applied.push({ kind: kind!, object: object! })
        out(`  ${paint.green('+')} ${objectName(kind!, object!.metadata.name!)} ${paint.dim(outcome!)}`)
        return
      }
      refused++
      err(`  ${paint.red('✗')} ${manifest.source}: ${messageOf(error)}`)
    },
  })
  if (refused > 0) throw new Error(`the server rejected ${refused} of ${manifests.length} objects of ${folder}`)
  const kinds = await api.kinds()
  const inCategory = (category: string) => applied.filter(({ kind }) => kind.categories.includes(category))
  const claims = inCategory('claim')
  const followed = claims.length > 0 ? claims : inCategory('managed')
  if (followed.length === 0) return
  out('')
  await followUntilReady({ api, kinds, out, paint, progress, signal }, followed)
}
