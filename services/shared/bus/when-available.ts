import { ServiceError } from '#proto/errors.ts'

/** What comes of work; undefined while the one that it asks is not available, as others can go on without it. */
export const whenAvailable = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'unavailable') return undefined
    throw error
  }
}
