import { createServer } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { registerConstantTool } from './constant-tool.ts'
import { reportAddress } from './report-address.ts'

/** A minimal MCP server with one tool, built with the official library. Run as a process. */
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'bare', version: '1.0.0' })
  registerConstantTool(server)
  return server
})

const server = createServer(toNodeHandler(handler))
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address === null || typeof address === 'string')
    throw new Error('cannot report the address: the server has no port')
  reportAddress(`http://127.0.0.1:${address.port}`)
})
process.once('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
})
