import { ServiceError } from '#proto/errors.ts'

/** Returns the result of `work`, or undefined while the called service is unavailable and the caller can go on without it. */
export const whenAvailable = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'unavailable') return undefined
    throw error
  }
}
