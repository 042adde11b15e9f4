/** For tests: a stream of what is given, piece by piece. */
export const streamOf = <T>(pieces: readonly T[]): ReadableStream<T> =>
  new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece)
      controller.close()
    },
  })
