import type { Outbox } from './store.ts'

/** Interval of polling: a push may get lost, and expired claims of a crashed process cause none. */
const pollMs = 1_000

interface Waker extends AsyncDisposable {
  onAppend: Outbox['onAppend']
}

/** Calls every listener soon after an append and once a second. Subscribes to the server with the first listener. */
export const createWaker = (subscribe: (wake: () => void) => Promise<AsyncDisposable>): Waker => {
  const listeners = new Set<() => void>()
  let timer: NodeJS.Timeout | undefined
  let subscription: Promise<AsyncDisposable | undefined> | undefined
  let woken = false

  const callAll = () => {
    woken = false
    for (const listener of listeners) listener()
  }
  // Combines concurrent appends into one call, outside of the appending call.
  const wake = () => {
    if (woken) return
    woken = true
    setImmediate(callAll)
  }

  return {
    onAppend(listener) {
      // Wrapped, so that two registrations of one function are independent.
      const own = () => listener()
      listeners.add(own)
      timer ??= setInterval(callAll, pollMs).unref()
      subscription ??= subscribe(wake).catch(() => undefined)
      return { [Symbol.dispose]: () => void listeners.delete(own) }
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      listeners.clear()
      await (await subscription)?.[Symbol.asyncDispose]()
    },
  }
}
