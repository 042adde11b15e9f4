// @module-tag long
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { describeWith, startNats, startRedis } from '../testing/describe-with.ts'
import { formatHostVariables } from '../testing/product.ts'
import { runProcessToEnd, startProcess } from '../testing/product/product-process.ts'
import { reserveFreePort } from '../testing/servers/port.ts'

const testMs = 60_000

describeWith(['nats', 'redis'], 'a process with STARTUP_WAIT_MS', () => {
  it('waits for servers that start later, and logs it once', { timeout: testMs }, async () => {
    await using nats = await startNats({ private: true })
    await using redis = await startRedis({ private: true })
    const variables = {
      ...formatHostVariables([{ url: 'http://127.0.0.1:9', name: 'missing' }]),
      NATS_URL: nats.url,
      REDIS_URL: redis.url,
      STARTUP_WAIT_MS: '30000',
    }
    await Promise.all([nats.kill(), redis.kill()])
    const starting = startProcess({ services: ['query'], variables, operationsPort: await reserveFreePort() })
    await wait(3_000)
    await Promise.all([nats.restart(), redis.restart()])
    await using started = await starting
    const lines = started
      .output()
      .split('\n')
      .filter((line) => line.includes('waiting for servers'))
    expect(lines).toHaveLength(1)
    // Redis is awaited within the first attempt.
    expect(lines[0]).toContain(new URL(nats.url).host)
  })

  it('fails with the usual error after that time', { timeout: testMs }, async () => {
    const url = `redis://127.0.0.1:${await reserveFreePort()}`
    const variables = { REDIS_URL: url, COLUMNDB_HOST: 'http://127.0.0.1:9', STARTUP_WAIT_MS: '1000', PORT: '0' }
    const { code, output } = await runProcessToEnd({ services: [], variables })
    expect(code).toBe(1)
    expect(output).toContain('waiting for servers')
    expect(output).toContain(new URL(url).host)
    expect(output).toMatch(/stopped by an error/)
  })
})
