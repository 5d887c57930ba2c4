import { messageOf } from '@crosstie/kube'
import { PartialCreateError } from '@crosstie/resources/provider'

/** Runs a step that follows a create. An error contains the external name of the created resource. */
export async function partly<T>(externalName: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (cause) {
    throw new PartialCreateError(`${externalName} was made, but not all of it: ${messageOf(cause)}`, externalName, {
      cause,
    })
  }
}
