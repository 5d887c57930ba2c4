import type { Attack } from './attack.js'
import { patchAttacks } from './expensive-patches.js'
import { reviewAttacks } from './expensive-reads.js'
import { fieldAttacks, metadataAttacks, yamlAttacks } from './expensive-writes.js'

/** All expensive requests by name. */
export const expensiveRequests: Readonly<Record<string, Attack>> = {
  ...metadataAttacks,
  ...fieldAttacks,
  ...yamlAttacks,
  ...patchAttacks,
  ...reviewAttacks,
}
