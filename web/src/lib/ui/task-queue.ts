/** Queued work, in order. */
const waiting = new Set<() => void>()
/** Messages schedule the tasks, because browsers throttle timers in background tabs. */
const { port1: sender, port2: receiver } = new MessageChannel()

receiver.addEventListener('message', () => {
  const [work] = waiting
  if (!work) return
  waiting.delete(work)
  if (waiting.size > 0) ring()
  work()
})
receiver.start()
const ring = (): void => sender.postMessage(null, [])

/**
 * Queues work. Each piece runs in a separate browser task, in order, so that the browser can paint and handle input in
 * between. Returns a function that cancels the work.
 */
export const enqueueTask = (work: () => void): (() => void) => {
  const own = (): void => work()
  waiting.add(own)
  if (waiting.size === 1) ring()
  return () => waiting.delete(own)
}
