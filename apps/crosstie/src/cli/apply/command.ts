import { type KubeObject, messageOf } from '@crosstie/kube'
import { type Command, EXIT_FAILED, EXIT_OK, textsOf, UsageError } from '../command.js'
import { accessOptions, namespaceOptions, openApi } from '../shared/access.js'
import { durationOf } from '../shared/duration.js'
import { readManifests } from '../shared/manifests.js'
import { encodedObjects, objectName, outputOf, outputOptions } from '../shared/output.js'
import { type Applied, applyAll } from './apply.js'

const formats = ['text', 'name', 'json', 'yaml']

/** The command `crosstie apply`. */
export const apply: Command = {
  name: 'apply',
  usage: 'crosstie apply -f FILE|DIR|- [-n NAMESPACE] [--dry-run] [--force]',
  summary: 'Create or update objects from files.',
  details: `Uses server-side apply: fields that a file does not contain are not changed. Namespaces are applied\nfirst, then definitions, classes and all other objects. The command waits for kinds whose definitions\nwere just applied.`,
  examples: [
    { does: 'A folder of manifests', line: 'crosstie apply -f examples/private-database' },
    { does: 'The output of another program', line: 'crosstie manifests | crosstie apply -f -' },
  ],
  options: {
    filename: {
      type: 'string',
      short: 'f',
      multiple: true,
      value: 'FILE',
      help: 'A file, a folder, or - (repeatable)',
    },
    ...namespaceOptions,
    'dry-run': { type: 'boolean', help: 'Validate on the server without storing anything' },
    force: { type: 'boolean', help: 'Take over fields that another manager applied' },
    'field-manager': { type: 'string', value: 'NAME', help: 'The name of the field manager', default: 'crosstie' },
    timeout: { type: 'string', value: 'DURATION', help: 'How long to wait for a kind to be served', default: '60s' },
    ...outputOptions(...formats),
    ...accessOptions,
  },
  exits: { 1: 'at least one object was rejected; the others are applied' },
  completes: 'files',
  async run(input) {
    const { values, words, out, err, progress, signal } = input
    if (words.length > 0) throw new UsageError(`name files with -f: -f ${words[0]}`)
    const output = outputOf(values, ...formats)
    const manifests = await readManifests(textsOf(values, 'filename'))
    using api = await openApi(input)
    const dryRun = values['dry-run'] === true
    const done: KubeObject[] = []
    let failed = 0
    const report = ({ manifest, kind, outcome, object, error }: Applied) => {
      if (error !== undefined) {
        failed++
        err(`${manifest.source}: ${manifest.object.kind} ${manifest.object.metadata.name}: ${messageOf(error)}`)
        return
      }
      done.push(object!)
      const name = objectName(kind!, object!.metadata.name!)
      if (output.format === 'name') out(name)
      else if (output.format === 'text') out(`${name} ${outcome}${dryRun ? ' (dry run)' : ''}`)
    }
    await applyAll({
      api,
      manifests,
      dryRun,
      force: values['force'] === true,
      fieldManager: String(values['field-manager']),
      patienceMs: durationOf('--timeout', String(values['timeout'])),
      report,
      progress,
      signal,
    })
    const text = encodedObjects(output, done, manifests.length === 1)
    if (text !== undefined && done.length > 0) out(text)
    if (failed > 0) err(`${failed} of ${manifests.length} objects were rejected.`)
    return failed > 0 ? EXIT_FAILED : EXIT_OK
  },
}
