import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { settings } from '../config.ts'
import { checkedZone } from './window.ts'

const obeyed = { COLUMNDB_TZ: settings.COLUMNDB_TZ }

/** The zone a caller names, else the one of the settings, else none, which is the host's own. */
export const zoneFor = (asked: string | undefined, env: Environment): string | undefined =>
  checkedZone(asked) ?? read(obeyed, env).COLUMNDB_TZ
