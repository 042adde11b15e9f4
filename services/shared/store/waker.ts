import type { Outbox } from './store.ts'

/** Poll interval. Notifications may be lost, and there is none when the claims of a crashed process expire. */
const pollMs = 1_000

interface Waker extends AsyncDisposable {
  onAppend: Outbox['onAppend']
}

/**
 * Creates a waker, which calls its listeners soon after an append and once a second. It subscribes to notifications of
 * the server with the first listener.
 */
export const createWaker = (subscribe: (wake: () => void) => Promise<AsyncDisposable>): Waker => {
  const listeners = new Set<() => void>()
  let timer: NodeJS.Timeout | undefined
  let subscription: Promise<AsyncDisposable | undefined> | undefined
  let isScheduled = false

  const callAll = () => {
    isScheduled = false
    for (const listener of listeners) listener()
  }
  // Combines concurrent appends into one call of each listener, which runs after the appending calls.
  const wake = () => {
    if (isScheduled) return
    isScheduled = true
    setImmediate(callAll)
  }

  return {
    onAppend(listener) {
      // The listener is wrapped, so that two registrations of one function are independent.
      const call = () => listener()
      listeners.add(call)
      timer ??= setInterval(callAll, pollMs).unref()
      subscription ??= subscribe(wake).catch(() => undefined)
      return { [Symbol.dispose]: () => void listeners.delete(call) }
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      listeners.clear()
      await (await subscription)?.[Symbol.asyncDispose]()
    },
  }
}
