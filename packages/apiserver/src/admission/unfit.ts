/** A value that is not what its kind looks like. Who reads it says how that is told. */
export class UnfitError extends Error {
  override readonly name = 'UnfitError'
}
