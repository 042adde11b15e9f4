import { getFailureMessage } from './failure.ts'

/** Runs actions that may fail and holds the failure of the last one. */
export const createAttempt = () => {
  let failure = $state<string | null>(null)
  return {
    get failure() {
      return failure
    },
    say: (sentence: string): void => {
      failure = sentence
    },
    /** Runs an action and returns whether it succeeded. */
    run: async (action: () => Promise<unknown>): Promise<boolean> => {
      failure = null
      try {
        await action()
        return true
      } catch (error) {
        failure = getFailureMessage(error)
        return false
      }
    },
  }
}
