import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { QuietHours } from '../policy.ts'
import { isInQuietHours } from './mute-timings.ts'

const everyDay = [0, 1, 2, 3, 4, 5, 6]
const window = (more: Partial<QuietHours>): QuietHours => ({
  id: 'night',
  days: everyDay,
  start: '22:00',
  end: '07:00',
  timezone: 'UTC',
  severityCap: 'critical',
  ...more,
})
const isQuietAt = (more: Partial<QuietHours>, instant: string): boolean =>
  isInQuietHours([window(more)], 'warning', Date.parse(instant))

describe('hours of a day', () => {
  it.each([
    ['2026-06-10T11:59:59Z', false],
    ['2026-06-10T12:00:00Z', true],
    ['2026-06-10T13:29:59Z', true],
    ['2026-06-10T13:30:00Z', false],
  ])('from 12:00 to 13:30: %s is quiet: %s', (instant, quiet) => {
    expect(isQuietAt({ start: '12:00', end: '13:30' }, instant)).toBe(quiet)
  })

  it.each([
    ['2026-06-10T23:59:59Z', true],
    ['2026-06-11T00:00:00Z', false],
  ])('to the end of the day: %s is quiet: %s', (instant, quiet) => {
    expect(isQuietAt({ days: [3], start: '00:00', end: '24:00' }, instant)).toBe(quiet)
  })
})

// 2026-06-12 is a Friday.
describe('a night belongs to the weekday it starts on', () => {
  it.each([
    ['2026-06-12T21:59:59Z', false, 'Friday before it starts'],
    ['2026-06-12T22:00:00Z', true, 'Friday night'],
    ['2026-06-13T06:59:59Z', true, 'Saturday early, still of Friday'],
    ['2026-06-13T07:00:00Z', false, 'Saturday when it has ended'],
    ['2026-06-13T23:00:00Z', false, 'Saturday night'],
    ['2026-06-12T06:00:00Z', false, 'Friday early, of Thursday'],
  ])('%s is quiet: %s, %s', (instant, quiet) => {
    expect(isQuietAt({ days: [5] }, instant)).toBe(quiet)
  })

  it.each([
    ['2026-06-13T02:00:00Z', true, 'Friday 22:00 in New York'],
    ['2026-06-13T10:59:59Z', true, 'Saturday 06:59 in New York'],
    ['2026-06-13T11:00:00Z', false, 'Saturday 07:00 in New York'],
  ])('as the zone counts days: %s is quiet: %s, %s', (instant, quiet) => {
    expect(isQuietAt({ days: [5], timezone: 'America/New_York' }, instant)).toBe(quiet)
  })
})

interface ClockChange {
  what: string
  timezone: string
  start: string
  end: string
  /** First instant of the quiet hours; `to` is the first instant after them. */
  from: string
  to: string
}

const clockChanges: ClockChange[] = [
  // Berlin: 2026-03-29 02:00 becomes 03:00, 2026-10-25 03:00 becomes 02:00.
  {
    what: 'a night in spring is an hour shorter',
    timezone: 'Europe/Berlin',
    start: '22:00',
    end: '07:00',
    from: '2026-03-28T21:00:00Z',
    to: '2026-03-29T05:00:00Z',
  },
  {
    what: 'a night in autumn is an hour longer',
    timezone: 'Europe/Berlin',
    start: '22:00',
    end: '07:00',
    from: '2026-10-24T20:00:00Z',
    to: '2026-10-25T06:00:00Z',
  },
  {
    what: 'a start that is skipped is the turn',
    timezone: 'Europe/Berlin',
    start: '02:30',
    end: '05:00',
    from: '2026-03-29T01:00:00Z',
    to: '2026-03-29T03:00:00Z',
  },
  {
    what: 'an end that is skipped is the turn',
    timezone: 'Europe/Berlin',
    start: '23:00',
    end: '02:30',
    from: '2026-03-28T22:00:00Z',
    to: '2026-03-29T01:00:00Z',
  },
  {
    what: 'an end that comes twice is the second',
    timezone: 'Europe/Berlin',
    start: '23:00',
    end: '02:30',
    from: '2026-10-24T21:00:00Z',
    to: '2026-10-25T01:30:00Z',
  },
  {
    what: 'a start that comes twice is the first',
    timezone: 'Europe/Berlin',
    start: '02:30',
    end: '05:00',
    from: '2026-10-25T00:30:00Z',
    to: '2026-10-25T04:00:00Z',
  },
  {
    what: 'an end to which clocks are turned back is over at once',
    timezone: 'Europe/Berlin',
    start: '23:00',
    end: '02:00',
    from: '2026-10-24T21:00:00Z',
    to: '2026-10-25T00:00:00Z',
  },
  {
    what: 'an end after the turn back is the usual one',
    timezone: 'Europe/Berlin',
    start: '23:00',
    end: '03:00',
    from: '2026-10-24T21:00:00Z',
    to: '2026-10-25T02:00:00Z',
  },
  // New York: 2026-03-08 02:00 becomes 03:00, 2026-11-01 02:00 becomes 01:00.
  {
    what: 'a night in spring is an hour shorter',
    timezone: 'America/New_York',
    start: '22:00',
    end: '06:00',
    from: '2026-03-08T03:00:00Z',
    to: '2026-03-08T10:00:00Z',
  },
  {
    what: 'a night in autumn is an hour longer',
    timezone: 'America/New_York',
    start: '22:00',
    end: '06:00',
    from: '2026-11-01T02:00:00Z',
    to: '2026-11-01T11:00:00Z',
  },
  {
    what: 'hours within the hour that comes twice go on through it',
    timezone: 'America/New_York',
    start: '01:15',
    end: '01:45',
    from: '2026-11-01T05:15:00Z',
    to: '2026-11-01T06:45:00Z',
  },
  // Lord Howe changes its clock by half an hour: 2026-10-04 02:00 becomes 02:30, 2026-04-05 02:00 becomes 01:30.
  {
    what: 'a start in the half hour that is skipped is the turn',
    timezone: 'Australia/Lord_Howe',
    start: '02:15',
    end: '04:00',
    from: '2026-10-03T15:30:00Z',
    to: '2026-10-03T17:00:00Z',
  },
  {
    what: 'an end in the half hour that comes twice is the second',
    timezone: 'Australia/Lord_Howe',
    start: '23:00',
    end: '01:45',
    from: '2026-04-04T12:00:00Z',
    to: '2026-04-04T15:15:00Z',
  },
  // Santiago changes its clock at midnight: 2026-09-06 00:00 becomes 01:00, so that this day has no midnight.
  {
    what: 'the end of the day is there though its midnight is skipped',
    timezone: 'America/Santiago',
    start: '20:00',
    end: '24:00',
    from: '2026-09-06T00:00:00Z',
    to: '2026-09-06T04:00:00Z',
  },
  {
    what: 'a start at a midnight that is skipped is the turn',
    timezone: 'America/Santiago',
    start: '00:00',
    end: '06:00',
    from: '2026-09-06T04:00:00Z',
    to: '2026-09-06T09:00:00Z',
  },
  // Kolkata has no clock changes.
  {
    what: 'a zone of half hours that never turns',
    timezone: 'Asia/Kolkata',
    start: '22:00',
    end: '07:00',
    from: '2026-03-28T16:30:00Z',
    to: '2026-03-29T01:30:00Z',
  },
]

describe('at clock changes', () => {
  it.each(clockChanges)('$what ($timezone, $start to $end)', ({ timezone, start, end, from, to }) => {
    const isQuietAtMs = (ms: number) => isInQuietHours([window({ timezone, start, end })], 'warning', ms)
    const [fromMs, toMs] = [Date.parse(from), Date.parse(to)]
    const minuteMs = 60_000
    expect([isQuietAtMs(fromMs - 1), isQuietAtMs(toMs)]).toEqual([false, false])
    for (let ms = fromMs; ms < toMs; ms += minuteMs) if (!isQuietAtMs(ms)) throw new Error(new Date(ms).toISOString())
    expect(isQuietAtMs(toMs - 1)).toBe(true)
  })
})

describe('by severity', () => {
  const night = Date.parse('2026-06-10T23:00:00Z')
  it.each([
    ['warning', 'critical', true],
    ['critical', 'critical', false],
    ['warning', null, true],
    ['critical', null, true],
  ] as const)('%s under a cap of %s is held: %s', (severity, severityCap, held) => {
    expect(isInQuietHours([window({ severityCap })], severity, night)).toBe(held)
  })
})

it('matches the wall clock apart from clock changes', () => {
  // These zones have no clock change in June 2026.
  const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Pacific/Apia', 'Australia/Sydney']
  const minute = fc.integer({ min: 0, max: 1_439 })
  const juneMs = fc.integer({ min: Date.UTC(2026, 5, 3), max: Date.UTC(2026, 5, 28) })
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      minute,
      minute,
      fc.subarray(everyDay),
      juneMs,
      (timezone, from, to, days, ms) => {
        fc.pre(from !== to)
        const wall = new Date(ms).toLocaleString('en-GB', { timeZone: timezone, hour: '2-digit', minute: '2-digit' })
        const weekday = new Date(ms).toLocaleDateString('en-US', { timeZone: timezone, weekday: 'short' })
        const today = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'].indexOf(weekday)
        const [start, end] = [hoursAndMinutes(from), hoursAndMinutes(to)]
        const isToday = days.includes(today) && wall >= start && (wall < end || end < start)
        const isOfYesterday = days.includes((today + 6) % 7) && end < start && wall < end
        expect(isInQuietHours([window({ timezone, start, end, days })], 'warning', ms)).toBe(isToday || isOfYesterday)
      },
    ),
  )
})

const hoursAndMinutes = (minutes: number): string =>
  [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':')
