/** Returns a response with the same body, whose errors are converted by `toError`. */
export const failWith = (response: Response, toError: (cause: unknown) => unknown): Response => {
  if (!response.body) return response
  const reader = response.body.getReader()
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (cause) {
          controller.error(convert(toError, cause))
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    // Nothing is read ahead of the consumer.
    { highWaterMark: 0 },
  )
  return new Response(body, response)
}

/** Returns the converted error, or what the conversion throws. */
const convert = (toError: (cause: unknown) => unknown, cause: unknown): unknown => {
  try {
    return toError(cause)
  } catch (thrown) {
    return thrown
  }
}
