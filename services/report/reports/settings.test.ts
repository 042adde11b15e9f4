import { expect, it } from 'vitest'
import { reportZone } from './settings.ts'

it('writes reports in their own zone, else in the zone of COLUMNDB_TZ, else in UTC', () => {
  expect(reportZone({ SVC_WEEKLY_REPORT_TIMEZONE: 'Europe/Berlin', COLUMNDB_TZ: 'Asia/Tokyo' })).toBe('Europe/Berlin')
  expect(reportZone({ COLUMNDB_TZ: 'Asia/Tokyo' })).toBe('Asia/Tokyo')
  expect(reportZone({})).toBe('UTC')
})
