import { describe, expect, it } from 'vitest'
import { parseEvents } from '../../accept.ts'

/** 10:00 UTC on 1 March 2026. */
export const sampleTime = '2026-03-01T10:00:00.000Z'
/** The same instant in epoch seconds. */
export const sampleTimeSeconds = 1_772_359_200

interface Expected {
  key: string | null
  status: string
  severity: string | null
  title: string
  resource?: string
  at?: string | null
  /** Null if absent. */
  url?: string | null
}

/** A payload as documented by its vendor, the expected event, and the request headers. */
type Case = [name: string, sent: object, expected: Expected, headers?: Record<string, string>]

/** Defines tests that the adapter of a vendor parses each payload as expected. */
export const defineVendorTests = (vendor: string, cases: readonly Case[]): void => {
  describe(vendor, () => {
    it.each<Case>([...cases])('reads %s', (_name, sent, expected, headers = {}) => {
      const [event, ...others] = parseEvents(JSON.stringify(sent), headers)
      expect(others).toEqual([])
      if (!event || 'error' in event) throw new Error(event?.error)
      const { dedupKey, status, severity, title, resource, occurredAt, url } = event
      expect(event.sourceType).toBe(vendor)
      expect({
        key: dedupKey,
        status,
        severity,
        title,
        ...('resource' in expected && { resource }),
        ...('at' in expected && { at: occurredAt === null ? null : new Date(occurredAt).toISOString() }),
        url,
      }).toEqual({ url: null, ...expected })
    })
    it('has at least four documented payloads', () => {
      expect(cases.length).toBeGreaterThanOrEqual(4)
    })
  })
}
