import { ServiceError } from '#proto/errors.ts'
import { type Writing, type Written, writeWeekly } from './weekly.ts'

/** Rounds of weekly reports, which go on when their caller leaves; disposing ends the one that runs. */
export interface Rounds extends AsyncDisposable {
  run(): Promise<Written>
}

export const openRounds = (writing: Writing): Rounds => {
  const stop = new AbortController()
  const running = new Set<Promise<unknown>>()
  return {
    run() {
      const round = writeWeekly(writing, stop.signal)
      const ended: Promise<unknown> = round.then(
        () => running.delete(ended),
        () => running.delete(ended),
      )
      running.add(ended)
      return round
    },
    async [Symbol.asyncDispose]() {
      stop.abort(new ServiceError('unavailable', 'this process is stopping'))
      await Promise.all(running)
    },
  }
}
