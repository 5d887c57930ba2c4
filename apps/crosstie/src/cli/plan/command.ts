import { hasChanges, hasErrors } from '@crosstie/resources'
import { type Command, EXIT_CHANGES, EXIT_FAILED, EXIT_OK } from '../command.js'
import { openApi } from '../shared/access.js'
import { encoded, outputOf, outputOptions } from '../shared/output.js'
import { planText } from './plan-text.js'
import { planFor, planningOptions } from './planning.js'

const formats = ['text', 'json', 'yaml']

/** The command `crosstie plan`. */
export const plan: Command = {
  name: 'plan',
  usage: 'crosstie plan -f FILE|KIND/NAME...|--all [--delete] [-o FORMAT]',
  summary: 'Show the changes of external resources, field by field, without performing them.',
  details: `Runs the reconciler in this process, with the credentials of the ProviderConfigs. External resources\nare only observed. Nothing is written to them, to the server or to its events. The plan of a claim\ncontains the chosen class and all resources that would be created. A plan that was saved with\n-o json can be approved with 'crosstie approve'.`,
  examples: [
    { does: 'The changes of applying a folder', line: 'crosstie plan -f infrastructure/' },
    { does: 'The next changes of one resource', line: 'crosstie plan vpc/main' },
    { does: 'The changes of deleting it', line: 'crosstie plan vpc/main --delete' },
    { does: 'Fail a pipeline if there are changes', line: 'crosstie plan --all > /dev/null' },
  ],
  options: { ...planningOptions, ...outputOptions(...formats) },
  exits: {
    [EXIT_OK]: 'there are no changes',
    [EXIT_FAILED]: 'at least one resource cannot be planned',
    [EXIT_CHANGES]: 'there are changes',
  },
  completes: 'objects',
  async run(input) {
    const { format } = outputOf(input.values, ...formats)
    using api = await openApi(input)
    const found = await planFor(input, api)
    if (format !== 'text') input.out(encoded(format, found))
    else for (const line of planText(found, input.paint)) input.out(line)
    if (hasErrors(found)) return EXIT_FAILED
    return hasChanges(found) ? EXIT_CHANGES : EXIT_OK
  },
}
