import { describe, expect, it } from 'vitest'
import { features } from '#proto/call.ts'
import { problemsOf } from '#shared/config/setting.ts'
import { addressSettings } from './client-address.ts'
import { settings } from './config.ts'
import { cronSettings } from './cron/config.ts'
import { crossOriginSettings } from './cross-origin.ts'
import { featureSettings } from './features/config.ts'
import { limitSettings } from './limits/config.ts'

interface Row {
  fallback: string
  good: readonly string[]
  /** Texts that keep the gateway from starting. */
  bad: readonly string[]
}

const noCounts = ['-1', '1.5', '1e3', 'many', ' ', '0x10', '99999999999999999999']
const perMinute = (fallback: string): Row => ({ fallback, good: ['1', '250', ' 7 '], bad: ['0', ...noCounts] })
const featureIds: Row = { fallback: 'none', good: ['AGENT', 'agent, mcp,', ','], bad: ['AGENTS', 'AGENT;MCP', '*'] }

/** What each variable is when nobody sets it, and which texts it takes. */
const rows: Record<string, Row> = {
  RATE_LIMIT_API_PER_MIN: perMinute('100'),
  RATE_LIMIT_AGENT_PER_MIN: perMinute('10'),
  RATE_LIMIT_AGENT_GUEST_PER_MIN: perMinute('5'),
  SVC_GUEST_AI_REQUESTS_PER_DAY: { fallback: '3', good: ['0', '3'], bad: noCounts },
  RATE_LIMIT_MCP_PER_MIN: perMinute('30'),
  RATE_LIMIT_BROWSER_CONN_PER_MIN: perMinute('10'),
  RATE_LIMIT_DEVICE_CODE_PER_MIN: perMinute('10'),
  SVC_TRUST_PROXY_HEADERS: {
    fallback: 'unset',
    good: ['true', '1', 'CLOUD', 'false', '0', 'yes', 'anything'],
    bad: [],
  },
  CRON_SECRET: { fallback: 'none', good: ['any text'], bad: [] },
  SVC_CORS_ORIGINS: {
    fallback: 'none',
    good: ['*', 'https://a.example,http://b.example:8080'],
    bad: ['a.example', 'https://a.example/', 'javascript:alert(1)', 'https://user@a.example'],
  },
  SVC_CONFIG_FILE: { fallback: 'none', good: ['/etc/watchhouse/features.yaml'], bad: [] },
  SVC_DISABLED_FEATURES: featureIds,
  SVC_AUTH_REQUIRED_FEATURES: featureIds,
  ...Object.fromEntries(
    features.flatMap((feature) => [
      [
        `SVC_FEATURE_${feature}_ACCESS`,
        { fallback: 'public', good: ['public', 'Guest', 'authenticated'], bad: ['private', 'true', ' '] },
      ],
      [`SVC_FEATURE_${feature}_ENABLED`, { fallback: 'true', good: ['true', 'off', 'maybe'], bad: [] }],
    ]),
  ),
}

const owned = { ...limitSettings, ...addressSettings, ...cronSettings, ...crossOriginSettings, ...featureSettings }
const namesWrong = (env: Record<string, string>) => problemsOf(settings, env).map(({ name }) => name)

describe('who may use what, how often', () => {
  it('is said by these variables and no others', () => {
    expect(Object.keys(owned).toSorted()).toEqual(Object.keys(rows).toSorted())
    expect(Object.keys(settings)).toEqual(expect.arrayContaining(Object.keys(rows)))
  })

  it.each(Object.entries(rows))('%s has its default, and takes only what can be meant', (name, row) => {
    expect(new Map(Object.entries(owned)).get(name)?.fallback).toBe(row.fallback)
    for (const text of ['', ...row.good]) expect(namesWrong({ [name]: text })).toEqual([])
    for (const text of row.bad) expect(namesWrong({ [name]: text })).toEqual([name])
  })

  it('does not rest on a secret that has only a predecessor', () => {
    expect(namesWrong({ CRON_SECRET_PREVIOUS: 'old' })).toEqual(['CRON_SECRET'])
  })
})
