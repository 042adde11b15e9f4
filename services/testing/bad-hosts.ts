import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, type Server, type Socket, createServer } from 'node:net'
import { reserveFreePort } from './servers/port.ts'

/** A host that refuses connections, does not respond, or responds with invalid data. */
export interface BadHost extends AsyncDisposable {
  readonly url: string
  /** Number of accepted connections. */
  readonly connections: number
}

/** Returns a host that refuses connections, because nothing listens on its port. */
export const startRefusingHost = async (): Promise<BadHost> => ({
  url: `http://127.0.0.1:${await reserveFreePort()}`,
  connections: 0,
  [Symbol.asyncDispose]: async () => {},
})

/** Starts a host that accepts requests but never responds. */
export const startHangingHost = async (): Promise<BadHost> => listenAsHost(createServer((socket) => socket.resume()))

/** Starts an HTTP server that is not a database. */
export const startGarbageHost = async (): Promise<BadHost> =>
  listenAsHost(createHttpServer((_request, response) => response.end('<html>Welcome to nginx!</html>')))

const listenAsHost = async (server: Server): Promise<BadHost> => {
  const sockets = new Set<Socket>()
  let connections = 0
  server.on('connection', (socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // The address of a listening TCP server is always an object.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    get connections() {
      return connections
    },
    [Symbol.asyncDispose]: async () => {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}
