import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server of a test that listens on loopback. */
export interface LoopbackServer {
  /** The URL without a path. */
  origin: string
  /** Closes the server and all its connections. */
  stop(): Promise<void>
}

/** Starts listening on loopback, on a free port by default. */
export const listenOnLoopback = async (server: Server, wantedPort = 0): Promise<LoopbackServer> => {
  server.listen(wantedPort, '127.0.0.1')
  await once(server, 'listening')
  // The address of a listening TCP server is never a string or null.
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
