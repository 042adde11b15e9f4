import type { Server } from 'node:http'

/** Writes the address of the server to standard output, where the parent process reads it. */
export const reportAddress = (url: string): void => {
  process.stdout.write(`${JSON.stringify({ listening: { url } })}\n`)
}

/** Listens on a free port, reports the address to the parent process, and closes the server on a stop signal. */
export const startReportingServer = (server: Server): void => {
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (address === null || typeof address === 'string')
      throw new Error('cannot report the address: the server has no port')
    reportAddress(`http://127.0.0.1:${address.port}`)
  })
  process.once('SIGTERM', () => server.close())
}
