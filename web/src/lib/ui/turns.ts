/** Work that waits for its turn, in the order in which it came. */
const waiting = new Set<() => void>()
/** Unlike timers, messages are neither delayed when many follow one another nor slowed down in a tab that nobody sees. */
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
 * Does each piece of work in a task of its own, so that the browser can paint and answer the reader in between; returns what calls
 * it off. Several that come at once stand one after the other.
 */
export const inTurn = (work: () => void): (() => void) => {
  const own = (): void => work()
  waiting.add(own)
  if (waiting.size === 1) ring()
  return () => waiting.delete(own)
}
