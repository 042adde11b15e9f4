import { describe, expect, it } from 'vitest'
import {
  defaultDigestMinutes,
  defaultAlertSettings,
  buildEnvironmentLayer,
  findInvalidVariables,
} from './environment.ts'

const names = (env: Record<string, string>) => findInvalidVariables(env).map(({ name }) => name)

describe('alert variables', () => {
  it('leave the documented defaults if unset', () => {
    const { general, digestMinutes, rules } = buildEnvironmentLayer({ HEALTH_ALERT_MIN_SEVERITY: '' })
    expect(Object.values(general).filter((value) => value !== undefined)).toEqual([])
    expect([digestMinutes, rules]).toEqual([undefined, {}])
    expect(defaultAlertSettings).toEqual({ minSeverity: 'warning', cooldownMinutes: 60, breaches: 1, clears: 2 })
    expect(defaultDigestMinutes).toBe(0)
  })

  it.each([
    ['HEALTH_ALERT_ENABLED', 'off', { enabled: false }],
    ['HEALTH_ALERT_ENABLED', 'Yes', { enabled: true }],
    ['HEALTH_ALERT_ENABLED', 'perhaps', { enabled: undefined }],
    ['HEALTH_ALERT_MIN_SEVERITY', 'critical', { minSeverity: 'critical' }],
    ['HEALTH_ALERT_MIN_SEVERITY', 'info', { minSeverity: undefined }],
    ['HEALTH_ALERT_COOLDOWN_MINUTES', '0', { cooldownMinutes: 0 }],
    ['HEALTH_ALERT_COOLDOWN_MINUTES', '-5', { cooldownMinutes: undefined }],
    ['HEALTH_ALERT_COOLDOWN_MINUTES', 'soon', { cooldownMinutes: undefined }],
    ['HEALTH_HYSTERESIS_BREACHES', '3', { breaches: 3 }],
    ['HEALTH_HYSTERESIS_BREACHES', '0', { breaches: undefined }],
    ['HEALTH_HYSTERESIS_CLEARS', '1.5', { clears: undefined }],
  ])('%s=%s', (name, text, expected) => {
    const env = { [name]: text }
    expect(buildEnvironmentLayer(env).general).toMatchObject(expected)
    const isValid = Object.values(expected).some((value) => value !== undefined)
    expect(names(env)).toEqual(isValid ? [] : [name])
  })

  it('configure one rule if their name contains its id', () => {
    const env = {
      HEALTH_HYSTERESIS_DISK_USAGE_BREACHES: '4',
      HEALTH_HYSTERESIS_DISK_USAGE_CLEARS: '5',
      HEALTH_THRESHOLD_DISK_USAGE_WARNING: '72.5',
      HEALTH_THRESHOLD_LOAD_PER_CORE_CRITICAL: '-1',
    }
    expect(buildEnvironmentLayer(env).rules).toEqual({
      'disk-usage': { breaches: 4, clears: 5, warning: 72.5 },
      'load-per-core': { critical: -1 },
    })
    expect(names(env)).toEqual([])
  })

  it('are reported by name if invalid, and the others apply', () => {
    const env = {
      HEALTH_HYSTERESIS_DISK_USAGE_BREACHES: 'hunter2',
      HEALTH_THRESHOLD_DISK_USAGE_WARNING: 'hunter2',
      HEALTH_THRESHOLD_DISK_USAGE_CRITICAL: '95',
      HEALTH_ALERT_DIGEST_MINUTES: '1441',
    }
    expect(buildEnvironmentLayer(env)).toMatchObject({
      rules: { 'disk-usage': { critical: 95 } },
      digestMinutes: undefined,
    })
    expect(names(env).toSorted()).toEqual([
      'HEALTH_ALERT_DIGEST_MINUTES',
      'HEALTH_HYSTERESIS_DISK_USAGE_BREACHES',
      'HEALTH_THRESHOLD_DISK_USAGE_WARNING',
    ])
    expect(JSON.stringify(findInvalidVariables(env))).not.toContain('hunter2')
  })
})
