import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { parseWallTime, readZone, formatWallTime, resolveZoneName, computeZoneOffsetMs } from './zone.ts'

const hourMs = 3_600_000

describe('time zones', () => {
  it.each([
    ['UTC', '2026-07-01T12:00:00Z', 0],
    ['Europe/Berlin', '2026-07-01T12:00:00Z', 2],
    ['Europe/Berlin', '2026-12-01T12:00:00Z', 1],
    ['Asia/Kolkata', '2026-12-01T12:00:00Z', 5.5],
    ['America/New_York', '2026-12-01T12:00:00Z', -5],
  ])('returns the offset of %s at %s as %s hours', (zone, instant, hours) => {
    expect(computeZoneOffsetMs(Date.parse(instant), zone)).toBe(hours * hourMs)
  })

  it.each(['Europe/Berlin', 'Australia/Adelaide', 'America/New_York'])(
    'matches the offset of the browser in %s',
    async (zone) => {
      const instants = ['2026-07-01T12:00:00Z', '2026-12-01T12:00:00Z'].map((text) => Date.parse(text))
      const fromAfar = instants.map((instant) => computeZoneOffsetMs(instant, zone))
      onTestFinished(() => void vi.unstubAllEnvs())
      vi.stubEnv('TZ', zone)
      vi.resetModules()
      const there = await import('./zone.ts')
      expect(there.resolveZoneName('browser')).toBe(zone)
      expect(instants.map((instant) => there.computeZoneOffsetMs(instant, zone))).toEqual(fromAfar)
    },
  )

  it.each(['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Pacific/Auckland'])(
    'round-trips wall-clock times in %s',
    (zone) => {
      const instant = Date.parse('2026-11-20T14:05:00Z')
      expect(parseWallTime(formatWallTime(instant, zone), zone)).toBe(instant)
    },
  )

  it('uses the correct offset around a DST change', () => {
    expect(parseWallTime('2026-03-29T03:30', 'Europe/Berlin')).toBe(Date.parse('2026-03-29T01:30:00Z'))
    expect(parseWallTime('2026-03-29T01:30', 'Europe/Berlin')).toBe(Date.parse('2026-03-29T00:30:00Z'))
  })

  it('rejects invalid times', () => expect(parseWallTime('soon', 'UTC')).toBeNull())

  it('uses the zone of the operator unless the user selects another', () => {
    const zones = { host: 'Asia/Tokyo', operator: 'Pacific/Auckland' }
    expect(resolveZoneName('default', zones)).toBe('Pacific/Auckland')
    expect(resolveZoneName('default')).toBe(resolveZoneName('browser'))
    expect(resolveZoneName('browser', zones)).toBe(resolveZoneName('browser'))
    expect(resolveZoneName('host', zones)).toBe('Asia/Tokyo')
  })

  it('uses the zone of the host once it is known', () => {
    expect(resolveZoneName('host', { host: 'Asia/Tokyo' })).toBe('Asia/Tokyo')
    expect(resolveZoneName('utc', { host: 'Asia/Tokyo', operator: 'Asia/Tokyo' })).toBe('UTC')
    expect(readZone(new URLSearchParams('zone=moon'))).toBe('default')
  })
})
