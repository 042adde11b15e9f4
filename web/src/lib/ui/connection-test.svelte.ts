import { testConnection, type ConnectionTestResult, type DatabaseTarget } from '#lib/api/connections.ts'
import { toTestOutcome, toRejectionOutcome, type ConnectionTestOutcome } from './connection-advice.ts'

/** Creates the state of the connection attempts of a form, with the last outcome. `connect` runs a test. */
export const createConnectionTest = <R extends ConnectionTestResult>(
  form: () => HTMLFormElement | undefined,
  connect: (target: DatabaseTarget) => Promise<R>,
) => {
  let outcome = $state<ConnectionTestOutcome>()
  let result = $state<R>()
  let isBusy = $state(false)

  const clear = (): void => {
    outcome = undefined
    result = undefined
  }
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
    const tested = await connect(target)
    result = tested
    outcome = toTestOutcome(tested, target.url)
    return tested.ok
  }
  return {
    /** The outcome of the last attempt; undefined before the first attempt. */
    get outcome(): ConnectionTestOutcome | undefined {
      return outcome
    },
    /** The result of the last test; undefined before the first test. */
    get result(): R | undefined {
      return result
    },
    get isBusy(): boolean {
      return isBusy
    },
    clear,
    attempt,
    test,
  }
}

/** Creates the state of a form for a user connection. */
export const createUserConnectionTest = (form: () => HTMLFormElement | undefined) =>
  createConnectionTest(form, testConnection)
