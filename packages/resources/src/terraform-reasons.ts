const terraformProvider = ['TerraformProvider'] as const
const nothing = 'Nothing.'
const ready = { type: 'Ready', status: 'True' } as const
const notReady = { type: 'Ready', status: 'False' } as const

/** The reasons of conditions of TerraformProviders. */
export const terraformReasons = [
  {
    type: 'Installed',
    status: 'True',
    reason: 'Installed',
    on: terraformProvider,
    means: 'The provider is installed in the version of status.version.',
    next: nothing,
  },
  {
    type: 'Installed',
    status: 'False',
    reason: 'NotInstalled',
    on: terraformProvider,
    means: 'The provider could not be installed. The message names the cause.',
    next: 'Correct spec.source or spec.version, or the mirror that the control plane was started with.',
  },
  {
    ...ready,
    reason: 'Served',
    on: terraformProvider,
    means: 'The kinds of status.activeKinds are served.',
    next: nothing,
  },
  {
    ...notReady,
    reason: 'Unhealthy',
    on: terraformProvider,
    means: 'Some kinds are not served, or a process of the provider failed. The message names them.',
    next: 'Read the message: it names the kind, the pattern of spec.kinds or the error of the process.',
  },
  {
    ...notReady,
    reason: 'InUse',
    on: terraformProvider,
    means: 'The provider is being deleted, and objects of its kinds exist.',
    next: 'Delete the objects that the message names, or leave them: nothing happens to them.',
  },
] as const
