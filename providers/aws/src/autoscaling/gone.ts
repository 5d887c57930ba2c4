import { AwsError, unlessNotFound } from '../errors.js'

/**
 * Returns the result of a call, or undefined if the resource does not exist, which Auto Scaling reports as a
 * validation error.
 */
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
