import { getFailureMessage } from './failure.ts'

/** Creates a runner for actions that may fail. The runner holds the error message of the last action. */
export const createActionRunner = () => {
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
