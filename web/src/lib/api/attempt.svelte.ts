import { failureMessage } from './failure.ts'

/** Deeds that may fail, one after another, and what went wrong with the last of them. */
export const createAttempt = () => {
  let failure = $state<string | null>(null)
  return {
    get failure() {
      return failure
    },
    say: (sentence: string): void => {
      failure = sentence
    },
    /** Whether it was done. */
    run: async (deed: () => Promise<unknown>): Promise<boolean> => {
      failure = null
      try {
        await deed()
        return true
      } catch (error) {
        failure = failureMessage(error)
        return false
      }
    },
  }
}
