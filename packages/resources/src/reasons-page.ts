import { eventReasons } from './event-reasons.js'
import { conditionReasons } from './reasons.js'

/** Returns the reference page of all reasons of conditions and events, in Markdown. */
export function reasonsPage(): string {
  const conditions = conditionReasons.map(({ type, status, reason, on, means, next }) =>
    row(`\`${type}\``, `\`${status}\``, `\`${reason}\``, on.join(', '), means, next),
  )
  const events = eventReasons.map(({ type, reason, on, means, next }) =>
    row(type, `\`${reason}\``, on.join(', '), means, next),
  )
  return `# Conditions and events

What objects say of themselves, and what to do about it. \`crosstie describe\` and \`crosstie events\` show both. This page is made
from [\`reasons.ts\`](../../packages/resources/src/reasons.ts) by \`node scripts/reasons.mjs --write\`.

*managed* are managed resources, *query* the query kinds of managed kinds, *claim* and *aggregate* what applications ask for,
*request* PlanRequests and DiscoveryRequests.

## Conditions

A condition's \`message\` has the details: the fields, the provider's own words, what is waited for. \`observedGeneration\` is the
generation of the object that it speaks of.

${row('type', 'status', 'reason', 'on', 'meaning', 'what to do')}
${row('---', '---', '---', '---', '---', '---')}
${conditions.join('\n')}

## Events

${row('type', 'reason', 'on', 'meaning', 'what to do')}
${row('---', '---', '---', '---', '---')}
${events.join('\n')}
`
}

const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`
