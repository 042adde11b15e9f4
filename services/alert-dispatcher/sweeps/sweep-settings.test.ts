import { expect, it } from 'vitest'
import { getSweepIntervalSeconds, resolveSweepPlan } from './sweep-settings.ts'

const [isEnabledBy, intervalBy] = ['SVC_HEALTH_SWEEP_ENABLED', 'SVC_HEALTH_SWEEP_INTERVAL_MINUTES']
/** The variables of `npm start`. */
const inDataDirectory = { SVC_DATA_DIRECTORY: '/data', SVC_STATE_DB_URL: 'file:///data/state.db' }

it.each<[string, Record<string, string>, number | undefined, boolean, number, string, string, number]>([
  ['nothing', {}, undefined, false, 0, 'default', 'default', 0],
  ['a cron secret', { CRON_SECRET: 'secret' }, undefined, true, 0, 'default', 'default', 300],
  ['a saved interval', {}, 2, true, 2, 'saved', 'saved', 120],
  ['a saved interval of 0', {}, 0, false, 0, 'saved', 'saved', 0],
  ['a variable and a saved interval', { [intervalBy]: '9' }, 2, false, 9, 'saved', 'environment', 0],
  ['both variables', { [isEnabledBy]: 'on', [intervalBy]: '9' }, 2, true, 9, 'environment', 'environment', 540],
  ['sweeps disabled by a variable', { [isEnabledBy]: 'off' }, 2, false, 2, 'environment', 'saved', 0],
  ['a data directory', inDataDirectory, undefined, true, 5, 'default', 'default', 300],
  ['a data directory and a saved interval of 0', inDataDirectory, 0, false, 0, 'saved', 'saved', 0],
  ['an invalid variable', { [intervalBy]: 'often' }, 2, true, 2, 'saved', 'saved', 120],
])('plans sweeps with %s', (_what, env, saved, isEnabled, intervalMinutes, ofSwitch, ofInterval, seconds) => {
  const plan = resolveSweepPlan(env, saved)
  expect(plan).toEqual({
    isEnabled,
    intervalMinutes,
    sources: { isEnabled: ofSwitch, intervalMinutes: ofInterval },
  })
  expect(getSweepIntervalSeconds(plan)).toBe(seconds)
})
