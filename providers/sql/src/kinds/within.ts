import { s } from '@crosstie/resources/provider'
import { hasState, NO_DATABASE } from '../server/errors.js'
import { types } from './types.js'

/** For kinds whose resources are in one database. */
export const withinDatabase = () =>
  s.optional(
    s.reference(
      s.string({
        doc: 'The database that it is in. Default: the default database of the ProviderConfig.',
        immutable: true,
      }),
      { to: () => types.database },
    ),
  )

/** In a database that is not there, nothing is. */
export async function unlessNoDatabase<T>(nothing: T, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (hasState(error, NO_DATABASE)) return nothing
    throw error
  }
}
