/** A value does not have the shape of its kind. The caller adds the status code and the context to the message. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError'
}
