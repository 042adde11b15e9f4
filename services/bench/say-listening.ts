import type { Server } from 'node:http'

/** Tells whoever started this process where it listens. */
export const sayListening = (url: string): void => {
  process.stdout.write(`${JSON.stringify({ listening: { url } })}\n`)
}

/** Takes a port of this machine, says which, and closes when this process is told to end. */
export const listenAndSay = (server: Server): void => {
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('the server got no port')
    sayListening(`http://127.0.0.1:${address.port}`)
  })
  process.once('SIGTERM', () => server.close())
}
