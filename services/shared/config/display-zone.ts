import type { Environment } from './environment.ts'
import { read, type Setting } from './setting.ts'

const timeZone = (doc: string): Setting<string | undefined> => ({
  doc,
  audience: 'server',
  fallback: 'none',
  allowed: 'IANA time zone, such as Europe/Berlin',
  parse: (text) => {
    if (text === undefined || isZone(text)) return text
    throw new Error('must be an IANA time zone, such as Europe/Berlin')
  },
})

/** The zone in which dates and times are shown. */
export const displayZoneSettings = {
  COLUMNDB_TZ: timeZone(
    'Time zone of dates and times in the web, in messages and reports, and of the buckets of charts, for callers who choose none. By default that of the browser, UTC in messages, and that of the host for buckets.',
  ),
} as const

/** The zone of the operator; undefined where none is set. */
export const displayZone = (env: Environment): string | undefined => read(displayZoneSettings, env).COLUMNDB_TZ

/** Whether there is such a zone, and its name may stand within SQL. */
export const isZone = (zone: string): boolean => {
  if (!/^[A-Za-z][\w+\-/]{0,63}$/.test(zone)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).format(0) !== ''
  } catch {
    return false
  }
}
