import { ServiceError } from '#proto/errors.ts'

const waitingLimit = 1_000

interface Turns {
  /** Waits until everyone who came before is done; the turn ends when disposed. Throws `busy` when too many wait. */
  take(): Promise<Disposable>
}

/** One at a time, in the order they came. */
export const createTurns = (): Turns => {
  let waiting = 0
  let last = Promise.resolve()
  return {
    async take() {
      if (waiting >= waitingLimit) throw new ServiceError('busy', `${waitingLimit} writes wait for the state database`)
      const before = last
      const { promise, resolve } = Promise.withResolvers<void>()
      last = promise
      waiting += 1
      await before
      waiting -= 1
      return { [Symbol.dispose]: resolve }
    },
  }
}
