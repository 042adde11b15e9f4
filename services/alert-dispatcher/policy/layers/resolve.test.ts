import { describe, expect, it } from 'vitest'
import type { Severity } from '#proto/rules.ts'
import type { NotificationRoute } from '../../policy.ts'
import { buildDatabaseLayer } from '../open-policy.ts'
import { createEmptyLayer, type PolicyLayer, mergeById, mergeFields } from './layer.ts'
import { resolvePolicy } from './resolve.ts'
import { createTestRoute } from '../../testing/simulated-host.ts'

const never = () => []
const layer = (source: PolicyLayer['source'], said: Partial<PolicyLayer>): PolicyLayer => ({
  ...createEmptyLayer(source),
  ...said,
})
const resolve = (...layers: PolicyLayer[]) => resolvePolicy(layers, {}, never)

const route = (id: string, target: string) => createTestRoute({ id, target })

describe('layers are merged', () => {
  it('to the defaults if all are empty', () => {
    expect(resolve()).toEqual({
      enabled: false,
      minSeverity: 'warning',
      leastSeverity: 'warning',
      cooldownMs: 3_600_000,
      digestMs: 0,
      breaches: 1,
      clears: 2,
      sweeps: {
        isEnabled: false,
        intervalMinutes: 0,
        sources: { isEnabled: 'default', intervalMinutes: 'default' },
      },
      rules: {},
      custom: [],
      sqlRules: [],
      maintenance: [],
      quietHours: [],
      routes: [],
      channels: {},
      webhookTargets: [],
      subscriptions: [],
      chatApplications: [],
    })
  })

  it('field by field: database, files, variables', () => {
    const database = layer('database', { general: { cooldownMinutes: 5 }, rules: { r: { warning: 1 } } })
    const file = layer('file', {
      general: { cooldownMinutes: 10, minSeverity: 'critical' },
      rules: { r: { warning: 2, critical: 3 }, s: { enabled: false } },
    })
    const environment = layer('environment', {
      general: { cooldownMinutes: 20, minSeverity: 'warning', clears: 7, breaches: undefined },
      rules: { r: { warning: 4, critical: 5, clears: 6 } },
    })
    expect(resolve(database, file, environment)).toMatchObject({
      cooldownMs: 300_000,
      minSeverity: 'critical',
      clears: 7,
      breaches: 1,
      rules: { r: { warning: 1, critical: 3, clears: 6 }, s: { enabled: false } },
    })
    expect(mergeFields([database, file, environment], ({ rules }) => rules.r).sources).toEqual({
      warning: 'database',
      critical: 'file',
      clears: 'environment',
    })
  })

  it('with the digest of a single layer', () => {
    const file = layer('file', { digestMinutes: 0 })
    const environment = layer('environment', { digestMinutes: 15 })
    expect(resolve(file, environment).digestMs).toBe(0)
    expect(resolve(environment).digestMs).toBe(900_000)
  })

  it('entry by entry if entries have ids', () => {
    const database = layer('database', { routes: [route('a', 'team')] })
    const file = layer('file', { routes: [route('a', 'webhook'), route('b', 'webhook')] })
    expect(mergeById([database, file], ({ routes }) => routes)).toEqual([
      { ...route('a', 'team'), source: 'database' },
      { ...route('b', 'webhook'), source: 'file' },
    ])
  })

  it.each([
    [undefined, true, true],
    [undefined, false, false],
    [false, true, false],
    [true, false, true],
  ])('with enabled %s and a configured channel %s to %s', (enabled, isReady, expected) => {
    expect(
      resolvePolicy([layer('environment', { general: { enabled } })], {}, () => (isReady ? [null] : [])).enabled,
    ).toBe(expected)
  })

  it.each<[string, (Severity | null)[], NotificationRoute[], Severity]>([
    ['the global one', [null], [], 'critical'],
    ['that of a target', [null, 'warning'], [], 'warning'],
    ['that of a route', [null], [{ ...route('a', 'webhook'), minSeverity: 'warning' }], 'warning'],
    ['of no route that is off', [], [{ ...route('a', 'webhook'), minSeverity: 'warning', enabled: false }], 'critical'],
  ])('and the lowest minimum severity is %s', (_whose, minSeverities, routes, expected) => {
    const said = layer('environment', { general: { minSeverity: 'critical' }, routes })
    expect(resolvePolicy([said], {}, () => minSeverities).leastSeverity).toBe(expected)
  })

  it('with current secrets from variables that files name', () => {
    const file = layer('file', {
      channels: {
        webhook: {
          minSeverity: 'critical',
          variables: { HEALTH_ALERT_WEBHOOK_NOTE: 'open' },
          fromVariables: { HEALTH_ALERT_WEBHOOK_URL: 'TEAM_HOOK', HEALTH_ALERT_WEBHOOK_X: 'UNSET' },
        },
      },
    })
    const database = layer('database', { channels: { webhook: { enabled: false } } })
    expect(resolvePolicy([database, file], { TEAM_HOOK: 'https://hooks.example.com/a' }, never).channels).toEqual({
      webhook: {
        enabled: false,
        minSeverity: 'critical',
        fromFiles: {
          HEALTH_ALERT_WEBHOOK_NOTE: 'open',
          HEALTH_ALERT_WEBHOOK_URL: 'https://hooks.example.com/a',
        },
        variables: {},
      },
    })
  })
})

describe('the database layer', () => {
  it('is read by kind; invalid entries are left out and reported', () => {
    const { layer: read, unread } = buildDatabaseLayer([
      { kind: 'general', id: 'all', body: { cooldownMinutes: 5 } },
      { kind: 'digest', id: 'all', body: { enabled: false, windowMinutes: 30 } },
      { kind: 'rule', id: 'disk-usage', body: { warning: 70 } },
      { kind: 'rule', id: 'broken', body: { warning: 'many' } },
      { kind: 'route', id: 'a', body: { id: 'a', target: 'team' } },
      { kind: 'of-a-newer-release', id: 'a', body: {} },
    ])
    expect(read).toEqual({
      ...createEmptyLayer('database'),
      general: { cooldownMinutes: 5 },
      digestMinutes: 0,
      rules: { 'disk-usage': { warning: 70 } },
      routes: [route('a', 'team')],
    })
    expect(unread).toEqual(['rule broken'])
  })
})
