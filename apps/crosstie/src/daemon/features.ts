import type { Features } from '@crosstie/resources'
import type { Option, OptionValues } from '../options/options.js'

/**
 * Enabled by default: ignoring a policy that forbids changes must be a deliberate choice. The names are the flags
 * of Crossplane's providers.
 */
export const featureOptions: Readonly<Record<string, Option>> = {
  'enable-alpha-management-policies': {
    type: 'boolean',
    help: 'Enable managementPolicies and initProvider',
    default: true,
  },
  'enable-alpha-ignore-changes': { type: 'boolean', help: 'Heed ignoreChanges', default: true },
}

/** Returns the features that the options enable. */
export function featuresOf(values: OptionValues): Features {
  return {
    managementPolicies: values['enable-alpha-management-policies'] !== false,
    ignoreChanges: values['enable-alpha-ignore-changes'] !== false,
  }
}
