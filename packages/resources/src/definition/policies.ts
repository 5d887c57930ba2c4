/** The values of `spec.managementPolicies`. */
export const policyNames = ['Observe', 'Create', 'Update', 'Delete', 'LateInitialize', '*'] as const

/** The values of the former, single-valued `spec.managementPolicy`. */
export const oldPolicyNames = ['Default', 'Full', 'FullControl', 'OrphanOnDelete', 'ObserveOnly'] as const
