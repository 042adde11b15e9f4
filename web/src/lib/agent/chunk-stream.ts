/** Creates a stream of the given chunks, for tests. */
export const createChunkStream = <T>(pieces: readonly T[]): ReadableStream<T> =>
  new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece)
      controller.close()
    },
  })
