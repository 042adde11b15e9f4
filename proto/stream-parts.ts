/**
 * Yields the text of a response between separators, as it arrives, and returns the text after the last separator. Closes
 * the connection when the consumer stops early.
 */
export async function* readParts(response: Response, separator: string): AsyncGenerator<string, string> {
  if (!response.body) return ''
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return rest
      const parts = (rest + value).split(separator)
      rest = parts.pop() ?? ''
      yield* parts
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
