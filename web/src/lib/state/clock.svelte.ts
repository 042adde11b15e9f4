import { createSubscriber } from 'svelte/reactivity'

/** Update interval: ages are shown with a precision of a few seconds. */
const tickMs = 5_000

const subscribe = createSubscriber((update) => {
  const timer = setInterval(update, tickMs)
  return () => clearInterval(timer)
})

/** The current time in epoch milliseconds, reactive while a component reads it. */
export const clock = {
  get nowMs(): number {
    subscribe()
    return Date.now()
  },
}
