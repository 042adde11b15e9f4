import type { Outbox } from './store.ts'

/** Wakes by push may get lost with a connection; claims of a crashed process run out without any. */
const pollMs = 1_000

interface Waker extends AsyncDisposable {
  onAppend: Outbox['onAppend']
}

/** Calls every listener soon after an append and also once a second. Subscribes to the server with the first listener. */
export const createWaker = (subscribe: (wake: () => void) => Promise<AsyncDisposable>): Waker => {
  const listeners = new Set<() => void>()
  let timer: NodeJS.Timeout | undefined
  let subscription: Promise<AsyncDisposable | undefined> | undefined
  let woken = false

  const callAll = () => {
    woken = false
    for (const listener of listeners) listener()
  }
  // Appends of one moment are one wake, outside of the call that appended.
  const wake = () => {
    if (woken) return
    woken = true
    setImmediate(callAll)
  }

  return {
    onAppend(listener) {
      // Two registrations of one function are two, each with its own end.
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
