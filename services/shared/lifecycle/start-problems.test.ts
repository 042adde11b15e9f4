import { describe, expect, it } from 'vitest'
import { wholeNumberSetting } from '../config/setting.ts'
import type { ServiceConfig } from './service.ts'
import { describeProblems, findStartProblems } from './start-problems.ts'

const gateway: ServiceConfig = { settings: { PORT: wholeNumberSetting(3000, 'Port.', { max: 65_535 }) } }
const query: ServiceConfig = {
  settings: { COLUMNDB_POOL_SIZE: wholeNumberSetting(10, 'Size.', { min: 1 }) },
  problems: () => [{ name: 'COLUMNDB_USER', sentence: 'there are 3 users for 2 hosts' }],
}
const everything = { configs: [query, gateway], chosen: ['query', 'gateway'], elsewhere: [] }

describe('starting with bad variables', () => {
  it('reports all problems of the process and of its services at once', () => {
    const env = { PORT: 'http', COLUMNDB_POOL_SIZE: '0', LOG_LEVEL: 'loud', SVC_INSTANCE: 'Pod_1' }
    const problems = findStartProblems(everything, env)
    expect(problems.map((problem) => problem.name)).toEqual([
      'LOG_LEVEL',
      'COLUMNDB_POOL_SIZE',
      'COLUMNDB_USER',
      'PORT',
      'SVC_INSTANCE',
    ])
    expect(describeProblems(problems).split('\n')).toHaveLength(7)
    expect(describeProblems(problems)).toContain('  PORT: must be a whole number 0–65535\n')
  })

  it('reports an invalid state database even if the address of Redis is invalid', () => {
    const env = { REDIS_URL: 'http://cache', SVC_STATE_DB_URL: 'mysql://db', SVC_STATE_DB_TABLE_PREFIX: 'Bad-' }
    const problems = findStartProblems({ ...everything, configs: [gateway] }, env)
    expect(problems.map(({ name }) => name)).toEqual(['REDIS_URL', 'SVC_STATE_DB_TABLE_PREFIX', 'SVC_STATE_DB_URL'])
  })

  it('reports a problem of several services once', () => {
    const problems = findStartProblems({ ...everything, configs: [gateway, gateway, query] }, { PORT: 'http' })
    expect(problems.map(({ name }) => name)).toEqual(['PORT', 'COLUMNDB_USER'])
  })

  it('reports no problem for valid variables', () => {
    expect(findStartProblems({ ...everything, configs: [gateway] }, { PORT: '8080', SVC_INSTANCE: 'pod-1' })).toEqual(
      [],
    )
  })
})

describe('running only some of the services', () => {
  const part = { configs: [gateway], chosen: ['gateway'], elsewhere: ['query'] }

  it('is rejected without NATS, because the other services could not be reached', () => {
    expect(findStartProblems(part, {})).toEqual([
      { name: 'NATS_URL', sentence: expect.stringMatching(/^must be set to run gateway without query/) },
    ])
  })

  it('is allowed with NATS', () => {
    const env = { NATS_URL: 'nats://localhost:4222', REDIS_URL: 'redis://localhost:6379' }
    expect(findStartProblems(part, env)).toEqual([])
  })

  it('is rejected on NATS without shared state', () => {
    const names = findStartProblems(part, { NATS_URL: 'nats://localhost:4222' }).map(({ name }) => name)
    expect(names).toEqual(['REDIS_URL'])
  })
})
