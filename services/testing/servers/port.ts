import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Below the ports that systems give to outgoing connections, one of which could take a free port before its server does. */
const lowest = 15_000
const highest = 30_000
const attemptsLimit = 50

/** One file per port that was given; the time of its writing says when. */
const given = join(tmpdir(), 'watchhouse-ports')
/** Within this time whoever was given a port listens on it; then anybody can see that it is taken. */
const reservedMs = 60_000

/** A TCP port of the loopback address that nobody listens on, and that no other process is given for a minute. */
export const freePort = async (): Promise<number> => {
  mkdirSync(given, { recursive: true })
  for (let attempt = 0; attempt < attemptsLimit; attempt++) {
    const port = randomInt(lowest, highest)
    if (reserve(join(given, String(port))) && (await isFree(port))) return port
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
    // Another process was quicker.
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
