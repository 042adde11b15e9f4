import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { listenAndSay } from './say-listening.ts'

/** The least that sending a body takes: gives what is on standard input to whoever asks. Run as a process. */
const body = await buffer(process.stdin)

const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip', 'content-length': body.length })
  response.end(body)
})
listenAndSay(server)
