/** A server-sent event. Its id is the position at which its stream can be resumed. */
export interface ServerEvent {
  id: number
  data: string
}

/** Yields the events of a response as they arrive. Comments, which only keep the connection open, are skipped. */
export async function* readServerEvents(response: Response): AsyncGenerator<ServerEvent> {
  if (!response.body) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      const blocks = (rest + value).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const event = readEvent(block)
        if (event) yield event
      }
    }
  } finally {
    // Closes the connection when the consumer stops early.
    await reader.cancel().catch(() => undefined)
  }
}

const readEvent = (block: string): ServerEvent | null => {
  const lines = block.split('\n')
  const valueOf = (name: string) =>
    lines.filter((line) => line.startsWith(name)).map((line) => line.slice(name.length).trim())
  const data = valueOf('data:').join('\n')
  return data === '' ? null : { id: Number(valueOf('id:')[0] ?? 0), data }
}
