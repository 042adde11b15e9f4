import { describe, it } from 'vitest'
import { type ServerKind, sourceOf } from './servers/source.ts'

export { startNats } from './servers/nats.ts'
export { startPostgres } from './servers/postgres.ts'
export { startRedis } from './servers/redis.ts'
export { type TestServer } from './servers/server.ts'

/**
 * A `describe` that needs real servers. Where one cannot be had, the suite is left out and says so; with `CI` set that is
 * a failing test instead.
 */
export const describeWith = (kinds: readonly ServerKind[], name: string, body: () => void): void => {
  const missing = kinds.filter((kind) => sourceOf(kind) === undefined)
  if (missing.length === 0) return void describe(name, body)
  const sentence = `${missing.join(' and ')} not found: neither an address, nor a binary, nor Docker`
  if (process.env.CI) {
    return void describe(name, () => {
      it('has the servers it needs', () => {
        throw new Error(sentence)
      })
    })
  }
  process.stderr.write(`LEFT OUT: ${name} (${sentence})\n`)
  describe.skip(name, body)
}
