import { expect, it } from 'vitest'
import { getReportZone } from './settings.ts'

it('writes reports in their own zone, else in the zone of COLUMNDB_TZ, else in UTC', () => {
  expect(getReportZone({ SVC_WEEKLY_REPORT_TIMEZONE: 'Europe/Berlin', COLUMNDB_TZ: 'Asia/Tokyo' })).toBe(
    'Europe/Berlin',
  )
  expect(getReportZone({ COLUMNDB_TZ: 'Asia/Tokyo' })).toBe('Asia/Tokyo')
  expect(getReportZone({})).toBe('UTC')
})
