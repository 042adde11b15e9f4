import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Port range of test servers, below the ephemeral ports, which outgoing connections could take first. */
const minPort = 15_000
const maxPort = 30_000
const maxAttempts = 50

/** A folder with a file per reserved port. The modification time of the file is the time of the reservation. */
const reservations = join(tmpdir(), 'watchhouse-ports')
/** A reservation expires after this time, in milliseconds. */
const reservedMs = 60_000

/** Returns a free TCP port of the loopback address and reserves it for a minute. */
export const reserveFreePort = async (): Promise<number> => {
  mkdirSync(reservations, { recursive: true })
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const port = randomInt(minPort, maxPort)
    if (reserve(join(reservations, String(port))) && (await isFree(port))) return port
  }
  throw new Error(`no free port found between ${minPort} and ${maxPort}`)
}

const reserve = (file: string): boolean => {
  const written = statSync(file, { throwIfNoEntry: false })
  if (written && Date.now() - written.mtimeMs < reservedMs) return false
  rmSync(file, { force: true })
  try {
    writeFileSync(file, '', { flag: 'wx' })
    return true
  } catch {
    // Another process has reserved the port.
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
