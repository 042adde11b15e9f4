import type { Handlers } from '#proto/contract.ts'
import type { alerts } from '#proto/alerts.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { Schedule } from './schedule.ts'
import { isSweepEnabled } from './sweep-settings.ts'

const nothing = { enabled: false, hosts: 0, firing: 0, messages: 0 }

/** Sweeps now, unless sweeps are switched off. */
export const sweep =
  (schedule: Schedule, env: Environment): Handlers<typeof alerts>['sweep'] =>
  async () => {
    if (!isSweepEnabled(env)) return nothing
    const swept = await schedule.sweep()
    return { ...swept, enabled: true, messages: swept.dispatched }
  }
