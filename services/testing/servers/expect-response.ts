import { once } from 'node:events'
import { connect } from 'node:net'

const answerWithinMs = 1_000

/**
 * Connects, sends `question` if provided, and resolves if the response starts with `expected`; otherwise it rejects.
 */
export const expectResponse = async (url: string, expected: string, question?: string): Promise<void> => {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.setTimeout(answerWithinMs, () => socket.destroy(new Error(`no response within ${answerWithinMs} ms`)))
  try {
    if (question !== undefined) socket.write(question)
    const [first]: Buffer[] = await once(socket, 'data')
    if (!first?.toString().startsWith(expected))
      throw new Error(`unexpected response from ${url}: it does not start with "${expected}"`)
  } finally {
    socket.destroy()
  }
}
