/** Queued work, in order. */
const waiting = new Set<() => void>()
/** Unlike timers, messages are not throttled in background tabs. */
const { port1: bell, port2: ear } = new MessageChannel()

ear.addEventListener('message', () => {
  const [work] = waiting
  if (!work) return
  waiting.delete(work)
  if (waiting.size > 0) ring()
  work()
})
ear.start()
const ring = (): void => bell.postMessage(null, [])

/**
 * Runs work in a task of its own, in order, so that the browser can paint and handle input in between. Returns a function that
 * cancels it.
 */
export const enqueueTask = (work: () => void): (() => void) => {
  const own = (): void => work()
  waiting.add(own)
  if (waiting.size === 1) ring()
  return () => waiting.delete(own)
}
