import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Below the ephemeral ports, because an outgoing connection could take a free port before its server does. */
const lowest = 15_000
const highest = 30_000
const maxAttempts = 50

/** A folder with a file per reserved port; its modification time is the time of the reservation. */
const reservations = join(tmpdir(), 'watchhouse-ports')
/** A reserved port must be in use within this time. */
const reservedMs = 60_000

/** Returns a free TCP port of the loopback address and reserves it for a minute. */
export const freePort = async (): Promise<number> => {
  mkdirSync(reservations, { recursive: true })
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const port = randomInt(lowest, highest)
    if (reserve(join(reservations, String(port))) && (await isFree(port))) return port
  }
  throw new Error(`no free port found between ${lowest} and ${highest}`)
}

const reserve = (file: string): boolean => {
  const written = statSync(file, { throwIfNoEntry: false })
  if (written && Date.now() - written.mtimeMs < reservedMs) return false
  rmSync(file, { force: true })
  try {
    writeFileSync(file, '', { flag: 'wx' })
    return true
  } catch {
    // Another process has reserved it.
    return false
  }
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
