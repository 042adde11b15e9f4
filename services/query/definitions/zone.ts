import type { Environment } from '#shared/config/environment.ts'
import { displayZone } from '#shared/config/display-zone.ts'
import { checkedZone } from './window.ts'

/** The zone a caller names, else the one of the settings, else none, which is the host's own. */
export const zoneFor = (asked: string | undefined, env: Environment): string | undefined =>
  checkedZone(asked) ?? displayZone(env)
