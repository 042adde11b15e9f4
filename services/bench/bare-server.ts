import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { startReportingServer } from './report-address.ts'

/** A minimal server that responds to every request with the content of its standard input. Run as a process. */
const body = await buffer(process.stdin)

const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip', 'content-length': body.length })
  response.end(body)
})
startReportingServer(server)
