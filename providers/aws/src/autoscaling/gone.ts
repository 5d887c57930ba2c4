import { AwsError, unlessNotFound } from '../errors.js'

/** What the call gives, or undefined when there is no such thing: Auto Scaling calls that a validation error. */
export async function unlessGone<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await unlessNotFound(call)
  } catch (error) {
    if (error instanceof AwsError && error.code === 'ValidationError' && /not found/i.test(error.message)) {
      return undefined
    }
    throw error
  }
}
