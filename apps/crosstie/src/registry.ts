import { nopBindings, nopResource } from '@crosstie/provider-nop'
import { type Binding, type ClaimKind, checkTogether, claimKinds, type ManagedKind } from '@crosstie/resources'

/** Everything that this program can manage. */
export const kinds: readonly ManagedKind[] = [nopResource]
checkTogether(kinds)

/** Everything that applications can ask for. */
export const claims: readonly ClaimKind[] = claimKinds

/** What may meet which claims. */
export const bindings: readonly Binding[] = nopBindings
