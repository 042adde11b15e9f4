/** Queued work, in order. */
const queuedWork = new Set<() => void>()
/** Messages schedule the tasks, because browsers throttle timers in background tabs. */
const { port1: sender, port2: receiver } = new MessageChannel()

receiver.addEventListener('message', () => {
  const [work] = queuedWork
  if (!work) return
  queuedWork.delete(work)
  if (queuedWork.size > 0) scheduleNextTask()
  work()
})
receiver.start()
const scheduleNextTask = (): void => sender.postMessage(null, [])

/**
 * Queues work. Each piece runs in a separate browser task, in order, so that the browser can paint and handle input in
 * between. Returns a function that cancels the work.
 */
export const enqueueTask = (work: () => void): (() => void) => {
  const own = (): void => work()
  queuedWork.add(own)
  if (queuedWork.size === 1) scheduleNextTask()
  return () => queuedWork.delete(own)
}
