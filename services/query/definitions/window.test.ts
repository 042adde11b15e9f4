import { describe, expect, it } from 'vitest'
import { validateZone, resolveChartWindow, toResponseWindow } from './window.ts'

const nowMs = 1_800_000_000_500
const hourMs = 3_600_000
const daily = { interval: 'toStartOfDay', lastHours: 336 } as const

describe('the window of a chart', () => {
  it('defaults to that of the definition', () => {
    expect(resolveChartWindow(daily, {}, nowMs)).toEqual({
      interval: 'toStartOfDay',
      lastMinutes: 336 * 60,
      since: '(now() - toIntervalHour(336))',
      until: '(now() + 1)',
      fromMs: nowMs - 336 * hourMs,
      toMs: nowMs,
    })
    expect(resolveChartWindow(daily, { lastHours: 6, interval: 'toStartOfMinute' }, nowMs)).toMatchObject({
      interval: 'toStartOfMinute',
      since: '(now() - toIntervalHour(6))',
    })
  })

  it('prefers from and to over lastHours', () => {
    const request = { from: 1_700_000_000, to: 1_700_003_600, lastHours: 5 }
    expect(resolveChartWindow(daily, request, nowMs)).toMatchObject({
      since: 'toDateTime(1700000000)',
      until: 'toDateTime(1700003600)',
      fromMs: 1_700_000_000_000,
      toMs: 1_700_003_600_000,
    })
    expect(resolveChartWindow(daily, { to: 1_700_000_000, lastHours: 1 }, nowMs)).toMatchObject({
      since: 'toDateTime(1699996400)',
    })
    expect(resolveChartWindow(daily, { from: 1_799_999_000 }, nowMs)).toMatchObject({ until: 'toDateTime(1800000000)' })
  })

  it('can be minutes that end now, which the response states', () => {
    const last = resolveChartWindow({ ...daily, interval: 'toStartOfMinute' }, { lastMinutes: 5, lastHours: 6 }, nowMs)
    expect(last).toMatchObject({ since: '(now() - toIntervalMinute(5))', fromMs: nowMs - 300_000, toMs: nowMs })
    expect(last && toResponseWindow(last)).toEqual({
      interval: 'toStartOfMinute',
      fromMs: nowMs - 300_000,
      toMs: nowMs,
      bucketSeconds: 60,
      lastMinutes: 5,
    })
    const fixed = resolveChartWindow({ lastHours: 6 }, { from: 1_700_000_000, to: 1_700_003_600 }, nowMs)
    expect(fixed && toResponseWindow(fixed)).toMatchObject({ interval: null, bucketSeconds: null, lastMinutes: null })
  })

  it.each([
    [{ interval: 'toStartOfMinute', lastHours: 168 }, 'toStartOfMinute'],
    [{ interval: 'toStartOfMinute', lastHours: 720 }, 'toStartOfFiveMinutes'],
    [{ interval: 'toStartOfMinute', lastHours: 8_760 }, 'toStartOfHour'],
  ] as const)('becomes coarser when %j exceeds the maximum points', (request, interval) => {
    expect(resolveChartWindow(daily, request, nowMs)?.interval).toBe(interval)
  })

  it('has no bucket that is shorter than the source of the chart allows', () => {
    const request = { lastMinutes: 5, interval: 'toStartOfFiveSeconds' } as const
    const seconds = resolveChartWindow({ ...daily, interval: 'toStartOfHour' }, request, nowMs)
    expect(seconds && toResponseWindow(seconds)).toMatchObject({ interval: 'toStartOfFiveSeconds', bucketSeconds: 5 })
    const sampled = { ...daily, interval: 'toStartOfHour', minInterval: 'toStartOfFifteenSeconds' } as const
    expect(resolveChartWindow(sampled, request, nowMs)?.interval).toBe('toStartOfFifteenSeconds')
    expect(resolveChartWindow(sampled, { ...request, interval: 'toStartOfDay' }, nowMs)?.interval).toBe('toStartOfDay')
  })

  it.each([
    [336, 'toStartOfHour'],
    [2_001, 'toStartOfDay'],
    [8_760, 'toStartOfDay'],
  ])('picks a default interval for %j hours', (lastHours, interval) => {
    expect(resolveChartWindow({ interval: 'toStartOfHour', lastHours: 24 }, { lastHours }, nowMs)?.interval).toBe(
      interval,
    )
  })

  it.each([
    { from: 5, to: 5 },
    { from: 6, to: 5 },
    { from: 0, to: 9_601 * 3_600 },
  ])('cannot be %j', (request) => {
    expect(() => resolveChartWindow(daily, request, nowMs)).toThrow(
      expect.objectContaining({ code: 'invalid', details: { parameter: 'from' } }),
    )
  })

  it('is undefined for charts of the current state', () => {
    expect(resolveChartWindow({}, { lastHours: 5 }, nowMs)).toBeUndefined()
    expect(resolveChartWindow({ lastHours: 5 }, { interval: 'toStartOfDay' }, nowMs)?.interval).toBeUndefined()
  })
})

describe('a zone', () => {
  it.each(['Europe/Berlin', 'UTC', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5', undefined])('may be %s', (zone) => {
    expect(validateZone(zone)).toBe(zone)
  })

  it.each(['Mars/Base', "UTC') --", '+02:00', '', 'a'.repeat(65)])('may not be %j', (zone) => {
    expect(() => validateZone(zone)).toThrow(
      expect.objectContaining({ code: 'invalid', details: { parameter: 'timezone' } }),
    )
  })
})
