import { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Forecast } from '#proto/forecasts.ts'
import type { InsightRow } from '#proto/insight-rows.ts'
import { computeAgeMs, recordInstant } from '#shared/time/clock.ts'
import type { Store } from '#shared/store/store.ts'
import type { ReportServiceDeps } from '../background-tasks.ts'
import { readForecasts } from './read-forecasts.ts'
import { addForecast, emptyTrackRecord, scoreForecasts, summarizeRecord, TrackRecord } from './track-record.ts'

/** The records of a host by resource, and when forecasts were last stored. */
const HostRecords = z.object({ storedAtMs: z.number(), records: z.record(z.string(), TrackRecord) })

/** Dependencies of the records of forecasts. */
export interface ForecastRecordDeps extends ReportServiceDeps {
  store: Store
}

const createKey = (hostKey: string): string => `forecasts/${hostKey}`
const nameResource = ({ what, subject }: Pick<Forecast, 'what' | 'subject'>): string => JSON.stringify([what, subject])

const dayMs = 86_400_000
const hourMs = 3_600_000
/** Records of a host without new forecasts are removed after this time. */
const expiresInMs = 120 * dayMs
/** The actual value may be this far from the time of a forecast. */
const maxDistanceHours = 1.5

/** Scores and stores the forecasts of a host, once a day. Returns whether it did. */
export const recordForecasts = async (
  deps: ForecastRecordDeps,
  hostKey: string,
  call: CallContext,
): Promise<boolean> => {
  const { store, clock } = deps
  const last = (await store.get(createKey(hostKey), HostRecords))?.storedAtMs
  const ageMs = last === undefined ? dayMs : computeAgeMs(clock, last)
  // A time in the future means that the clock was set back.
  if (ageMs >= 0 && ageMs < dayMs) return false
  const { forecasts, diskHours, partHours } = await readForecasts(deps, hostKey, call)
  const nowMs = recordInstant(clock)
  await store.update(createKey(hostKey), HostRecords, (current) => {
    // Another process stored forecasts in the meantime.
    if (current !== undefined && current.storedAtMs !== last) return undefined
    const records = new Map(Object.entries(current?.records ?? {}))
    for (const [resource, record] of records) {
      const readActual = createActualReader(resource, diskHours, partHours, nowMs)
      records.set(resource, scoreForecasts(record, readActual, nowMs))
    }
    for (const forecast of forecasts) {
      const resource = nameResource(forecast)
      records.set(resource, addForecast(records.get(resource) ?? emptyTrackRecord, forecast, nowMs))
    }
    const kept = [...records].filter(([, { waiting, scored }]) => waiting.length + scored.length > 0)
    return { value: { storedAtMs: nowMs, records: Object.fromEntries(kept) }, expiresInMs }
  })
  return true
}

/** Returns the function that finds the actual value of a resource at a time in the history of the host. */
const createActualReader = (
  resource: string,
  diskHours: readonly InsightRow<'disk-hours'>[],
  partHours: readonly InsightRow<'part-hours'>[],
  nowMs: number,
): ((atMs: number) => number | undefined) => {
  const values = new Map<string, { hoursAgo: number; value: number | null }[]>([
    [
      nameResource({ what: 'parts', subject: '' }),
      partHours.map(({ hoursAgo, parts }) => ({ hoursAgo, value: parts })),
    ],
  ])
  for (const [disk, hours] of Map.groupBy(diskHours, (row) => row.disk)) {
    const ofDisk = hours.map(({ hoursAgo, usedBytes }) => ({ hoursAgo, value: usedBytes }))
    values.set(nameResource({ what: 'disk', subject: disk }), ofDisk)
  }
  return (atMs) => {
    const wanted = (nowMs - atMs) / hourMs
    const distanceOf = ({ hoursAgo }: { hoursAgo: number }): number => Math.abs(hoursAgo - wanted)
    const [nearest] = (values.get(resource) ?? []).toSorted((one, other) => distanceOf(one) - distanceOf(other))
    return nearest && distanceOf(nearest) <= maxDistanceHours ? (nearest.value ?? undefined) : undefined
  }
}

/** Adds the records of earlier forecasts. If the store is unavailable, the forecasts have none. */
export const withRecords = async (
  store: Store,
  hostKey: string,
  forecasts: readonly Forecast[],
): Promise<Forecast[]> => {
  try {
    const records = (await store.get(createKey(hostKey), HostRecords))?.records ?? {}
    return forecasts.map((forecast) => ({
      ...forecast,
      record: summarizeRecord(records[nameResource(forecast)] ?? emptyTrackRecord),
    }))
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return [...forecasts]
  }
}

/** Returns the record of the forecasts of each disk in words. */
export const readDiskRecords = async (store: Store, hostKey: string): Promise<(disk: string) => string> => {
  const records = (await store.get(createKey(hostKey), HostRecords).catch(ignoreUnavailable))?.records
  return (disk) =>
    records === undefined
      ? ''
      : summarizeRecord(records[nameResource({ what: 'disk', subject: disk })] ?? emptyTrackRecord).summary
}

const ignoreUnavailable = (error: unknown): undefined => {
  if (!(error instanceof ServiceError)) throw error
  return undefined
}
