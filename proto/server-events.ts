import { readParts } from './stream-parts.ts'

/** A server-sent event. Its id is the position at which its stream can be resumed. */
export interface ServerEvent {
  id: number
  data: string
}

/** Yields the events of a response as they arrive. Comments, which only keep the connection open, are skipped. */
export async function* readServerEvents(response: Response): AsyncGenerator<ServerEvent> {
  for await (const block of readParts(response, '\n\n')) {
    const event = readEvent(block)
    if (event) yield event
  }
}

const readEvent = (block: string): ServerEvent | null => {
  const lines = block.split('\n')
  const valueOf = (name: string) =>
    lines.filter((line) => line.startsWith(name)).map((line) => line.slice(name.length).trim())
  const data = valueOf('data:').join('\n')
  return data === '' ? null : { id: Number(valueOf('id:')[0] ?? 0), data }
}
