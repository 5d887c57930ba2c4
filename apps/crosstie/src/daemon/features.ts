import type { Features } from '@crosstie/resources'
import type { Option, OptionValues } from '../options/options.js'

/**
 * On unless turned off: to ignore what says "do not touch" must be a deliberate choice.
 * The names are those of the flags that Crossplane's providers have.
 */
export const featureOptions: Readonly<Record<string, Option>> = {
  'enable-alpha-management-policies': {
    type: 'boolean',
    help: 'Heed managementPolicies and initProvider',
    default: true,
  },
  'enable-alpha-ignore-changes': { type: 'boolean', help: 'Heed ignoreChanges', default: true },
}

export function featuresOf(values: OptionValues): Features {
  return {
    managementPolicies: values['enable-alpha-management-policies'] !== false,
    ignoreChanges: values['enable-alpha-ignore-changes'] !== false,
  }
}
