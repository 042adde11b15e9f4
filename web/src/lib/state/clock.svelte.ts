import { createSubscriber } from 'svelte/reactivity'

/** Ages are shown to the nearest few seconds; nobody reads them finer. */
const tickMs = 5_000

const subscribe = createSubscriber((update) => {
  const timer = setInterval(update, tickMs)
  return () => clearInterval(timer)
})

/** The present, in epoch milliseconds, that moves on while a component reads it. */
export const clock = {
  get nowMs(): number {
    subscribe()
    return Date.now()
  },
}
