import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** A test server in place of a ClickHouse host. */
export interface StubHost extends AsyncDisposable {
  url: string
  /** The current and the maximum number of open connections. */
  readonly open: number
  readonly most: number
}

const listening = async (server: Server): Promise<StubHost> => {
  const sockets = new Set<Socket>()
  let most = 0
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    most = Math.max(most, sockets.size)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // The address of a listening TCP server is never a string or null.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    get open() {
      return sockets.size
    },
    get most() {
      return most
    },
    async [Symbol.asyncDispose]() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

/** Starts a TCP server that passes each connection to `accept`. */
export const startTcpStub = (accept: (socket: Socket) => void): Promise<StubHost> => listening(createServer(accept))

export interface StubRequest {
  /** The SQL, which is the request body. */
  sql: string
  url: URL
  request: IncomingMessage
}

/**
 * Starts an HTTP server that passes statements to `answer`. The server itself responds to capability queries, with
 * `capabilities`; if that is `none`, `answer` receives these queries too.
 */
export const startHttpStub = (
  answer: (request: StubRequest, response: ServerResponse) => void,
  capabilities: { version?: string; readonly?: number; tables?: string[] } | 'none' = {},
): Promise<StubHost> =>
  listening(
    // The timeout is longer than any test, so the server closes no connection by itself.
    createHttpServer({ keepAliveTimeout: 600_000 }, (request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const sql = Buffer.concat(chunks).toString('utf8')
        if (capabilities !== 'none' && sql.includes("getSetting('readonly')")) {
          const { version = '25.8.1.1', readonly = 0, tables = [] } = capabilities
          sendResultRows(response, [[version, readonly, tables]])
        } else if (capabilities !== 'none' && isGrantCheck(sql)) {
          sendResultRows(response, [[sql.startsWith('CHECK') ? 1 : 'GRANT ALL ON *.* TO watch']])
        } else {
          answer({ sql, url: new URL(request.url ?? '/', 'http://stub'), request }, response)
        }
      })
    }),
  )

/** Returns whether a statement reads the grants of the user. The users of stubs have all grants. */
const isGrantCheck = (sql: string): boolean => /^CHECK GRANT|^SHOW GRANTS|system\.enabled_roles$/.test(sql)

/** Sends a `JSONCompact` response with String columns. */
export const sendResultRows = (response: ServerResponse, data: unknown[][], names: readonly string[] = []): void => {
  const meta = (data[0] ?? []).map((_, index) => ({ name: names[index] ?? `column_${index}`, type: 'String' }))
  response.end(JSON.stringify({ meta, data, rows: data.length, statistics: { rows_read: 1, bytes_read: 2 } }))
}
