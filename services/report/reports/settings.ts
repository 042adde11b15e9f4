import { Temporal } from 'temporal-polyfill'
import { displayZoneSettings } from '#shared/config/shared-settings.ts'
import type { Environment } from '#shared/config/environment.ts'
import { flag, read, type Setting, whole } from '#shared/config/setting.ts'

const zone: Setting<string | undefined> = {
  doc: 'Zone whose weeks the weekly report is about, and in which its times are written. By default COLUMNDB_TZ, else UTC.',
  audience: 'server',
  fallback: 'COLUMNDB_TZ',
  allowed: 'IANA time zone, such as Europe/Berlin',
  parse: (given) => {
    if (given === undefined) return undefined
    try {
      return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(given).timeZoneId
    } catch {
      throw new Error('must be an IANA time zone such as Europe/Berlin')
    }
  },
}

const positions: Setting<readonly number[]> = {
  doc: 'Hosts that get a weekly report, by their positions in the host list; without it there are none.',
  audience: 'server',
  fallback: 'none',
  allowed: 'comma-separated host positions, from 0',
  parse: (given = '') => {
    const items = given
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
    if (items.every((item) => /^\d{1,5}$/.test(item))) return [...new Set(items.map(Number))]
    throw new Error('must be positions of hosts, such as 0,2')
  },
}

/** Of whom there are reports, and for how long. */
export const reportSettings = {
  SVC_WEEKLY_REPORT_HOSTS: positions,
  SVC_WEEKLY_REPORT_TIMEZONE: zone,
  SVC_REPORT_SUMMARY: flag(
    true,
    'Weekly reports begin with a few sentences of the language model, where one is configured; they are left out when a figure in them is none of the report.',
  ),
  SVC_REPORT_DAYS: whole(400, 'Reports are removed this many days after they were written.', { min: 1, max: 3_650 }),
  ...displayZoneSettings,
} as const

/** The zone of reports. */
export const reportZone = (env: Environment): string => {
  const { SVC_WEEKLY_REPORT_TIMEZONE: own, COLUMNDB_TZ: shown } = read(reportSettings, env)
  return own ?? shown ?? 'UTC'
}
