/** How often something happened within a window of time; one count for all processes on one Redis, else one for each process. */
export interface Counters extends AsyncDisposable {
  /** Counts `key` once more. Its window of whole seconds begins with the first count. Does not fail for the server behind. */
  count(key: string, seconds: number): Promise<Counted>
}

/** The count of a window, this time included, and in how many milliseconds the window ends. */
export interface Counted {
  count: number
  endsInMs: number
}

/** What rate-limiter-flexible wants to know of a limiter. Ours only count: who asks knows how much is too much, and names the window. */
export const limiterOptions = { points: 1, duration: 60 } as const

interface Limiter {
  penalty(
    key: string,
    points: number,
    options: { customDuration: number },
  ): Promise<{ consumedPoints: number; msBeforeNext: number }>
}

/** Counting by one of the library's limiters. */
export const countIn =
  (limiter: Limiter): Counters['count'] =>
  async (key, seconds) => {
    const { consumedPoints, msBeforeNext } = await limiter.penalty(key, 1, { customDuration: seconds })
    return { count: consumedPoints, endsInMs: msBeforeNext }
  }
