import { testConnection, type Target } from '#lib/api/connections.ts'
import { outcomeOf, refusal, type Outcome } from './connection-advice.ts'

/** What is tried with an address in one form, one thing at a time, and what came of the last. */
export const createTargetTrial = (form: () => HTMLFormElement | undefined) => {
  let outcome = $state<Outcome>()
  let isBusy = $state(false)

  /** Does nothing while the form is not filled in; what is thrown is told as the outcome. */
  const attempt = async (act: () => Promise<void>): Promise<void> => {
    if (!form()?.reportValidity()) return
    isBusy = true
    outcome = undefined
    try {
      await act()
    } catch (thrown) {
      outcome = refusal(thrown)
    }
    isBusy = false
  }
  /** Whether there is an answer at an address. */
  const answers = async (target: Target): Promise<boolean> => {
    const tested = await testConnection(target)
    outcome = outcomeOf(tested, target.url)
    return tested.ok
  }
  return {
    /** Undefined before anything was tried. */
    get outcome(): Outcome | undefined {
      return outcome
    },
    get isBusy(): boolean {
      return isBusy
    },
    forget: (): void => void (outcome = undefined),
    attempt,
    answers,
  }
}
