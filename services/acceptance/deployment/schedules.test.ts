import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { resolveSweepPlan } from '../../alert-dispatcher/sweeps/sweep-settings.ts'
import { root } from '../../testing/source-file.ts'

describe('the health sweep', () => {
  it.each(['helm/values.yaml', 'k8s/install.yaml'])('runs every five minutes by %s', (file) => {
    const text = readFileSync(join(root, file), 'utf8')
    const schedules = [...text.matchAll(/(?:healthSweep: .*|health-sweep\n(?:.*\n){0,20}?.*)schedule: '([^']+)'/g)]
    expect(schedules.map(([, schedule]) => schedule)).toEqual(['*/5 * * * *'])
  })

  it('runs every five minutes by `npm start`', () => {
    expect(readFileSync(join(root, 'services/set-up.mjs'), 'utf8')).toContain('SVC_DATA_DIRECTORY:')
    const variables = { SVC_DATA_DIRECTORY: '/data', SVC_STATE_DB_URL: 'file:///data/state.db' }
    expect(resolveSweepPlan(variables)).toMatchObject({ isEnabled: true, intervalMinutes: 5 })
  })
})
