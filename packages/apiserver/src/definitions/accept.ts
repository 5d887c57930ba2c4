import { timestamp } from '@crosstie/kube'
import type { CustomResourceDefinition } from './crd.js'
export function acceptNames(
  crd: CustomResourceDefinition,
  _others: readonly CustomResourceDefinition[],
  now: number,
): CustomResourceDefinition {
  const had = crd.status?.conditions ?? []
  if (had.length) return crd
  const lastTransitionTime = timestamp(now)
  return {
    ...crd,
    status: {
      ...crd.status,
      acceptedNames: crd.spec.names,
      storedVersions: [crd.spec.versions.find((v: any) => v.storage).name],
      conditions: [
        {
          type: 'NamesAccepted',
          status: 'True',
          reason: 'NoConflicts',
          message: 'no conflicts found',
          lastTransitionTime,
        },
        {
          type: 'Established',
          status: 'True',
          reason: 'InitialNamesAccepted',
          message: 'the initial names have been accepted',
          lastTransitionTime,
        },
      ],
    },
  } as any
}
