import { describe, expect, it } from 'vitest'
import { findSettingProblems, parseSettings } from '#shared/config/setting.ts'
import { problems, settings } from './config.ts'

describe('the row cap', () => {
  it.each([
    [undefined, 10_000],
    ['', 10_000],
    ['250', 250],
    [' 250 ', 250],
    ['0', undefined],
    ['many', undefined],
    ['-5', undefined],
    ['1.5', undefined],
  ])('reads %j as %j', (text, cap) => {
    expect(parseSettings(settings, { SVC_TABLE_MAX_RESULT_ROWS: text }).SVC_TABLE_MAX_RESULT_ROWS).toBe(cap)
  })
})

describe('the events table', () => {
  it.each([
    [undefined, 'system.monitoring_events'],
    ['stats.page_views', 'stats.page_views'],
  ])('reads %j as %j', (text, name) => {
    expect(parseSettings(settings, { EVENTS_TABLE_NAME: text }).EVENTS_TABLE_NAME).toBe(name)
  })

  it.each(['events', 'a.b.c', 'a.b WHERE 1', 'a.$b', 'a.`b`', "url('x').b"])('rejects %j', (name) => {
    expect(findSettingProblems(settings, { EVENTS_TABLE_NAME: name })).toMatchObject([{ name: 'EVENTS_TABLE_NAME' }])
  })
})

describe('the defaults', () => {
  it('are those of the configuration reference', () => {
    expect(parseSettings(settings, {})).toMatchObject({
      COLUMNDB_USER: 'default',
      COLUMNDB_MAX_EXECUTION_TIME: 60,
      COLUMNDB_POOL_SIZE: 10,
      COLUMNDB_POOL_TIMEOUT: 300_000,
      COLUMNDB_POOL_CLEANUP_INTERVAL: 60_000,
      SVC_QUERY_CACHE: true,
    })
  })
})

describe('the start', () => {
  it('fails in production without a host list', () => {
    expect(problems({ NODE_ENV: 'production' })).toEqual([
      { name: 'COLUMNDB_HOST', sentence: 'is required in production, unless SVC_HOSTS_FILE names a host list' },
    ])
    expect(problems({ NODE_ENV: 'production', COLUMNDB_HOST: 'http://db:8123' })).toEqual([])
    expect(problems({})).toEqual([])
  })

  it('needs no host list if a single process keeps the hosts that users add', () => {
    const env = { NODE_ENV: 'production', SVC_DATA_DIRECTORY: '/var/lib/watchhouse' }
    expect(problems(env)).toEqual([])
    const elsewhere = [
      { NATS_URL: 'nats://bus:4222' },
      { REDIS_URL: 'redis://store' },
      { SVC_STATE_DB_URL: 'postgres://db/a' },
    ]
    for (const more of elsewhere) expect(problems({ ...env, ...more })).toMatchObject([{ name: 'COLUMNDB_HOST' }])
  })

  it('reports host list problems next to other invalid settings', () => {
    const wrong = { COLUMNDB_POOL_SIZE: 'ten' }
    expect(problems({ ...wrong, NODE_ENV: 'production' }).map(({ name }) => name)).toEqual(['COLUMNDB_HOST'])
    expect(problems({ ...wrong, COLUMNDB_HOST: 'db' }).map(({ name }) => name)).toEqual(['COLUMNDB_HOST'])
  })

  it('fails with two host lists', () => {
    const both = { COLUMNDB_HOST: 'http://db:8123', SVC_HOSTS_FILE: '/etc/hosts.yaml' }
    expect(problems(both).map((problem) => problem.name)).toEqual(['SVC_HOSTS_FILE'])
  })

  it('reports all invalid settings at once', () => {
    const wrong = { COLUMNDB_POOL_SIZE: 'ten', COLUMNDB_MAX_EXECUTION_TIME: '0' }
    expect(findSettingProblems(settings, wrong).map((problem) => problem.name)).toEqual([
      'COLUMNDB_MAX_EXECUTION_TIME',
      'COLUMNDB_POOL_SIZE',
    ])
  })

  it('fails for a guest process with a host list and for a role without a bus', () => {
    const guest = { SVC_QUERY_ROLE: 'guest', NATS_URL: 'nats://bus:4222', NODE_ENV: 'production' }
    expect(problems(guest)).toEqual([])
    expect(problems({ ...guest, COLUMNDB_PASSWORD: 'secret', SVC_HOSTS_FILE: '/a' }).map(({ name }) => name)).toEqual([
      'COLUMNDB_PASSWORD',
      'SVC_HOSTS_FILE',
    ])
    expect(problems({ SVC_QUERY_ROLE: 'own', COLUMNDB_HOST: 'http://db:8123' })).toEqual([
      { name: 'SVC_QUERY_ROLE', sentence: 'cannot be "own" without NATS_URL; set NATS_URL or use "all"' },
    ])
  })
})
