import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** A TCP proxy on loopback that can delay and interrupt its connections. */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number
  /** Delays the data to the target by this time, in milliseconds. */
  delay(ms: number): void
  /** Closes all connections and rejects new ones. */
  cut(): void
  /** Accepts connections again. */
  restore(): void
}

/** Starts a proxy in front of a port of this machine. */
export const startTcpProxy = async (targetPort: number): Promise<TcpProxy> => {
  const sockets = new Set<Socket>()
  let delayMs = 0
  let isCut = false
  const track = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  }
  const server = createServer((client) => {
    if (isCut) return void client.destroy()
    const target = connect(targetPort, '127.0.0.1')
    track(client)
    track(target)
    for (const [one, other] of [
      [client, target],
      [target, client],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
    target.pipe(client)
    // Equal delays keep the order of the data.
    client.on('data', async (data) => {
      if (delayMs > 0) await wait(delayMs)
      if (!target.destroyed) target.write(data)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo // a TCP server has this type of address
  const cut = () => {
    isCut = true
    for (const socket of sockets) socket.destroy()
  }
  return {
    port,
    delay: (ms) => void (delayMs = ms),
    cut,
    restore: () => void (isCut = false),
    async [Symbol.asyncDispose]() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
