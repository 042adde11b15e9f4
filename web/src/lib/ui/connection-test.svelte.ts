import { testConnection, type DatabaseTarget } from '#lib/api/connections.ts'
import { toTestOutcome, toRejectionOutcome, type ConnectionTestOutcome } from './connection-advice.ts'

/** Creates the state of the connection attempts of a form, with the last outcome. */
export const createConnectionTest = (form: () => HTMLFormElement | undefined) => {
  let outcome = $state<ConnectionTestOutcome>()
  let isBusy = $state(false)

  /** Runs an action if the form is valid. A thrown error becomes the outcome. */
  const attempt = async (act: () => Promise<void>): Promise<void> => {
    if (!form()?.reportValidity()) return
    isBusy = true
    outcome = undefined
    try {
      await act()
    } catch (thrown) {
      outcome = toRejectionOutcome(thrown)
    }
    isBusy = false
  }
  /** Tests a connection and returns whether it works. */
  const test = async (target: DatabaseTarget): Promise<boolean> => {
    const tested = await testConnection(target)
    outcome = toTestOutcome(tested, target.url)
    return tested.ok
  }
  return {
    /** The outcome of the last attempt; undefined before the first attempt. */
    get outcome(): ConnectionTestOutcome | undefined {
      return outcome
    },
    get isBusy(): boolean {
      return isBusy
    },
    clear: (): void => void (outcome = undefined),
    attempt,
    test,
  }
}
