import { s } from '@crosstie/resources/provider'
import { hasState, NO_DATABASE } from '../server/errors.js'
import { types } from './types.js'

/** The fields of kinds whose resources are in one database. */
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

/** Runs an operation. Returns `nothing` if the database does not exist. */
export async function unlessNoDatabase<T>(nothing: T, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (hasState(error, NO_DATABASE)) return nothing
    throw error
  }
}
