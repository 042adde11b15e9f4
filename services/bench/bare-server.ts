import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'

/** The least that sending a body takes: gives what is on standard input to whoever asks. Run as a process. */
const body = await buffer(process.stdin)

const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip', 'content-length': body.length })
  response.end(body)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the bare server got no port')
  process.stdout.write(`${JSON.stringify({ listening: { url: `http://127.0.0.1:${address.port}` } })}\n`)
})
process.once('SIGTERM', () => server.close())
