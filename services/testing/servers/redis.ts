import { Redis } from 'ioredis'
import { expectResponse } from './expect-response.ts'
import { startContainer } from './container.ts'
import { startProcess } from './process.ts'
import { type ServerOptions, type TestServer, createExternalServer } from './server.ts'
import { requireServerSource } from './server-source.ts'

export interface RedisOptions extends ServerOptions {
  /** Settings that override the default ones. Implies a private server. */
  settings?: Record<string, string>
}

/** The settings that the product requires: no eviction, and a disk sync before each acknowledgement. */
const durableSettings = { appendonly: 'yes', appendfsync: 'always', save: '', 'maxmemory-policy': 'noeviction' }

/** Starts Redis with an append-only file. If an address variable is set, empties that server instead. */
export const startRedis = async ({ settings, private: own }: RedisOptions = {}): Promise<TestServer> => {
  const source = requireServerSource('redis', own ?? settings !== undefined)
  if ('url' in source) {
    await flushRedis(source.url)
    return createExternalServer(source.url)
  }
  const flags = Object.entries({ ...durableSettings, ...settings }).flatMap(([name, value]) => [`--${name}`, value])
  const answers = (url: string) => expectResponse(url, '+PONG', 'PING\r\n')
  const url = (port: number) => `redis://127.0.0.1:${port}`
  if ('image' in source) {
    return startContainer({ image: source.image, port: 6379, command: ['redis-server', ...flags], url, answers })
  }
  return startProcess({
    program: source.program,
    arguments: (directory, port) => ['--bind', '127.0.0.1', '--port', String(port), '--dir', directory, ...flags],
    url,
    answers,
  })
}

const flushRedis = async (url: string): Promise<void> => {
  const client = new Redis(url, { maxRetriesPerRequest: 1 })
  try {
    await client.flushdb()
  } finally {
    client.disconnect()
  }
}
