import { once } from 'node:events'
import { connect } from 'node:net'

const answerWithinMs = 1_000

/** Connects, sends `question` if provided, and resolves when the server has responded with `expected`. */
export const answersWith = async (url: string, expected: string, question?: string): Promise<void> => {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.setTimeout(answerWithinMs, () => socket.destroy(new Error('no answer')))
  try {
    if (question !== undefined) socket.write(question)
    const [first]: Buffer[] = await once(socket, 'data')
    if (!first?.toString().startsWith(expected)) throw new Error(`unexpected answer from ${url}`)
  } finally {
    socket.destroy()
  }
}
