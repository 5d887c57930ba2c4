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
  summary: 'Show what would change in external resources, field by field, without any change.',
  details: `The control plane computes the plan with its own reconciler and its own credentials, so that you need none. The
command creates a PlanRequest in the namespace and deletes it when it has the answer. External resources are
observed; nothing is written to them, to other objects or to events. For a claim the plan shows which class is chosen
and what becomes of every resource that the claim gets. 'crosstie approve' approves a plan that was saved with -o json.
Objects that cannot be planned make the command fail. With --local this process computes the plan, with the providers
of --providers and the credentials that it finds here.`,
  examples: [
    { does: 'The changes of applying a folder', line: 'crosstie plan -f infrastructure/' },
    { does: 'The next changes of one resource', line: 'crosstie plan vpc/main' },
    { does: 'The changes of deleting it', line: 'crosstie plan vpc/main --delete' },
    { does: 'Fail a pipeline if there are changes', line: 'crosstie plan --all > /dev/null' },
    { does: 'Plan where no control plane runs', line: 'crosstie plan -f infrastructure/ --local --providers aws' },
  ],
  options: { ...planningOptions, ...outputOptions(...formats) },
  exits: {
    [EXIT_OK]: 'there are no changes',
    [EXIT_FAILED]: 'at least one object cannot be planned',
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
