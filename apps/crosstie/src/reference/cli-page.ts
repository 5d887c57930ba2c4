import { type Command, exitCodes, type Option } from '../cli/command.js'
import { sections } from '../cli/commands.js'

/** Returns the page about the command line, generated from the commands. */
export async function cliReference(): Promise<string> {
  const parts: string[] = [INTRODUCTION, '## Exit codes', exitTable(exitCodes)]
  for (const [title, members] of Object.entries(sections)) {
    parts.push(`## ${title}`)
    for (const load of Object.values(members)) parts.push(commandPart(await load()))
  }
  return `${parts.join('\n\n')}\n`
}

const INTRODUCTION = `<!-- Written by scripts/cli-reference.mjs from the commands: change those, and run it. -->

# The command line

\`crosstie COMMAND [options]\`. Commands about objects speak to any Kubernetes API: the one that \`crosstie up\` serves, or a
cluster's. They find it by \`--kubeconfig\`, \`$KUBECONFIG\`, \`.crosstie/kubeconfig\` in the folder where they run, or
\`~/.kube/config\`, in this order.

A kind is named by its singular, plural, kind or short name, in any case; with its group where several have the name
(\`clusters.eks.aws.crossplane.io\`); several with commas between; or a category: \`managed\`, \`claim\`, \`class\`. An object is
\`KIND/NAME\`, or \`KIND NAME...\`.

Results go to stdout, everything else to stderr. Colors and progress are for terminals; \`NO_COLOR\` turns colors off.
\`-o json\` and \`-o yaml\` are for programs: their fields are those of the API.`

function exitTable(codes: Readonly<Record<number, string>>): string {
  const rows = Object.entries(codes).map(([code, meaning]) => `| ${code} | ${meaning} |`)
  return ['| Code | Meaning |', '| --- | --- |', ...rows].join('\n')
}

function commandPart({ name, usage, summary, details, examples = [], options, exits }: Command): string {
  const shown = examples.flatMap(({ does, line }) => [`# ${does}`, line])
  return [
    `### ${name}`,
    ['```console', usage, '```'].join('\n'),
    summary,
    ...(details ? [details] : []),
    ...(shown.length > 0 ? [['```console', ...shown, '```'].join('\n')] : []),
    ...(Object.keys(options).length > 0 ? [optionTable(options)] : []),
    ...(exits ? [exitTable(exits)] : []),
  ].join('\n\n')
}

function optionTable(options: Command['options']): string {
  const rows = Object.entries(options).map(([name, option]) => `| ${spelling(name, option)} | ${meaning(option)} |`)
  return ['| Option | Meaning |', '| --- | --- |', ...rows].join('\n')
}

function spelling(name: string, { short, value, default: preset }: Option): string {
  const long = preset === true ? `--[no-]${name}` : `--${name}`
  return `\`${short ? `-${short}, ` : ''}${long}${value ? ` ${value}` : ''}\``
}

function meaning({ help, default: preset, multiple }: Option): string {
  const suffix = typeof preset === 'string' && preset !== '' ? ` (default \`${preset}\`)` : ''
  const again = multiple && !help.includes('repeatable') ? ' (repeatable)' : ''
  return `${help.replaceAll('|', '\\|')}${again}${suffix}`
}
