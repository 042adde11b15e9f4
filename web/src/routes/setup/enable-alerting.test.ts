import { expect, it } from 'vitest'
import { enableAlerting } from './enable-alerting.ts'

const fixed = <T>(value: T, source = 'default') => ({ value, source })
const general = {
  enabled: fixed(false, 'database'),
  minSeverity: fixed<'warning' | 'critical'>('critical', 'database'),
  cooldownMinutes: fixed(30, 'environment'),
  breaches: fixed(1),
  clears: fixed(3, 'database'),
  sweepsEnabled: fixed(false),
  sweepMinutes: fixed(0),
}

it('keeps what is saved and sets an interval', () => {
  expect(enableAlerting(general)).toEqual({ enabled: true, minSeverity: 'critical', clears: 3, sweepMinutes: 5 })
})

it('keeps an interval, and does not set one that a variable sets', () => {
  expect(enableAlerting({ ...general, sweepMinutes: fixed(2, 'database') })).toMatchObject({ sweepMinutes: 2 })
  expect(enableAlerting({ ...general, sweepMinutes: fixed(0, 'environment') })).not.toHaveProperty('sweepMinutes')
})

it('leaves the start of notifications to the first channel by default', () => {
  expect(enableAlerting({ ...general, enabled: fixed(false) })).not.toHaveProperty('enabled')
})
