import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server of a test where it listens. */
export interface OnLoopback {
  /** Its address without a path. */
  origin: string
  /** Ends it with every connection to it. */
  stop(): Promise<void>
}

/** Has a server listen on loopback, at a free port where none is given. */
export const onLoopback = async (server: Server, wantedPort = 0): Promise<OnLoopback> => {
  server.listen(wantedPort, '127.0.0.1')
  await once(server, 'listening')
  // A listening TCP server's address is always this shape.
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
