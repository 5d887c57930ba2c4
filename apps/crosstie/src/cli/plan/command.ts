import { hasChanges, hasErrors } from '@crosstie/resources'
import { type Command, EXIT_CHANGES, EXIT_FAILED, EXIT_OK } from '../command.js'
import { openApi } from '../shared/access.js'
import { encoded, outputOf, outputOptions } from '../shared/output.js'
import { planText } from './plan-text.js'
import { planFor, planningOptions } from './planning.js'

const formats = ['text', 'json', 'yaml']

export const plan: Command = {
  name: 'plan',
  usage: 'crosstie plan -f FILE|KIND/NAME...|--all [--delete] [-o FORMAT]',
  summary: 'Tell what would be done to external resources, field by field, without doing anything.',
  details: `The reconciler itself is asked, in this process, with the credentials of the ProviderConfigs. External
resources are looked at; nothing is written to them, to the server, or to its events. For a claim it
is told which class is chosen, and what becomes of all that would be made. A plan that was saved with
-o json can be approved with 'crosstie approve'.`,
  examples: [
    { does: 'What applying a folder would do', line: 'crosstie plan -f infrastructure/' },
    { does: 'What the control plane would do next to one resource', line: 'crosstie plan vpc/main' },
    { does: 'What deleting it would do', line: 'crosstie plan vpc/main --delete' },
    { does: 'Fail a pipeline when anything would change', line: 'crosstie plan --all > /dev/null' },
  ],
  options: { ...planningOptions, ...outputOptions(...formats) },
  exits: {
    [EXIT_OK]: 'nothing would be done',
    [EXIT_FAILED]: 'something cannot be planned for',
    [EXIT_CHANGES]: 'something would be done',
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
