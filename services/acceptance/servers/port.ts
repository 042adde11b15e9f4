import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ports that systems give to outgoing connections, one of which could take a free port before its server does. */
const lowest = 15_000
const highest = 30_000
const attemptsLimit = 50

/** A TCP port of the loopback address that nobody listens on at this moment. */
export const freePort = async (): Promise<number> => {
  for (let attempt = 0; attempt < attemptsLimit; attempt++) {
    const port = randomInt(lowest, highest)
    if (await isFree(port)) return port
  }
  throw new Error(`no free port found between ${lowest} and ${highest}`)
}

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
