import type { Input, Option } from './command.js'
import { providerNames } from './registry.js'

export const providerOptions: Readonly<Record<string, Option>> = {
  providers: {
    type: 'string',
    value: 'NAMES',
    help: `Which providers, with commas between: ${providerNames.join(', ')}, a package or a path of yours`,
    default: providerNames.join(','),
  },
}

export function providersOf(values: Input['values']): readonly string[] {
  const names = String(values['providers']).split(',')
  return names.map((name) => name.trim()).filter((name) => name !== '')
}
