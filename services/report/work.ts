import { ServiceError } from '#proto/errors.ts'

/** Work that goes on when its caller leaves; disposing asks what runs to end, and waits for it. */
export interface Work extends AsyncDisposable {
  run<T>(task: (signal: AbortSignal) => Promise<T>): Promise<T>
}

export const openWork = (): Work => {
  const stop = new AbortController()
  const running = new Set<Promise<unknown>>()
  return {
    run(task) {
      const work = task(stop.signal)
      const ended: Promise<unknown> = work.then(
        () => running.delete(ended),
        () => running.delete(ended),
      )
      running.add(ended)
      return work
    },
    async [Symbol.asyncDispose]() {
      stop.abort(new ServiceError('unavailable', 'this process is stopping'))
      await Promise.all(running)
    },
  }
}
