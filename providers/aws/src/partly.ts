import { messageOf } from '@crosstie/kube'
import { PartialCreateError } from '@crosstie/resources/provider'

/** What follows on a create. If it fails, the error leaving here knows what was made. */
export async function partly<T>(externalName: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (cause) {
    throw new PartialCreateError(`${externalName} was made, but not all of it: ${messageOf(cause)}`, externalName, {
      cause,
    })
  }
}
