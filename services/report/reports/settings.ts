import { Temporal } from 'temporal-polyfill'
import { displayZoneSettings } from '#shared/config/shared-settings.ts'
import type { Environment } from '#shared/config/environment.ts'
import { flagSetting, parseSettings, type Setting, wholeNumberSetting } from '#shared/config/setting.ts'

const zoneSetting: Setting<string | undefined> = {
  doc: 'Time zone of the weekly report: week boundaries and times. By default COLUMNDB_TZ, else UTC.',
  audience: 'server',
  fallback: 'COLUMNDB_TZ',
  allowed: 'IANA time zone, such as Europe/Berlin',
  parse: (value) => {
    if (value === undefined) return undefined
    try {
      return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(value).timeZoneId
    } catch {
      throw new Error('must be an IANA time zone such as Europe/Berlin')
    }
  },
}

const hostPositionsSetting: Setting<readonly number[]> = {
  doc: 'Hosts with a weekly report, by their positions in the host list. Unset: no reports.',
  audience: 'server',
  fallback: 'none',
  allowed: 'comma-separated host positions, from 0',
  parse: (value = '') => {
    const items = value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
    if (items.every((item) => /^\d{1,5}$/.test(item))) return [...new Set(items.map(Number))]
    throw new Error('must be host positions, such as 0,2')
  },
}

/** The settings of reports. */
export const reportSettings = {
  SVC_WEEKLY_REPORT_HOSTS: hostPositionsSetting,
  SVC_WEEKLY_REPORT_TIMEZONE: zoneSetting,
  SVC_REPORT_SUMMARY: flagSetting(
    true,
    'Whether weekly reports start with a summary by the language model, if one is configured. A summary with a figure that is not in the report is dropped.',
  ),
  SVC_REPORT_DAYS: wholeNumberSetting(400, 'Retention of reports in days.', { min: 1, max: 3_650 }),
  ...displayZoneSettings,
} as const

/** Returns the time zone of reports. */
export const getReportZone = (env: Environment): string => {
  const { SVC_WEEKLY_REPORT_TIMEZONE: own, COLUMNDB_TZ: shown } = parseSettings(reportSettings, env)
  return own ?? shown ?? 'UTC'
}
