import { z } from 'zod'
import { type SweepState, maxSampleDays, maxSampledDisks } from '../sweep-state.ts'
import { createMeasurement, createMissingMeasurement } from '../measurement.ts'
import { type Evaluator, readRows, catchFailures } from './evaluator.ts'

/** Object storage disks are excluded, because their reported size is meaningless. */
const statement = {
  what: 'rules',
  maxSeconds: 5,
  sql: `SELECT name, toFloat64(total_space - free_space), toFloat64(greatest(free_space - keep_free_space, 0))
FROM system.disks WHERE lower(type) = 'local' AND total_space > 0 ORDER BY name LIMIT ${maxSampledDisks}`,
}
const Rows = z.array(z.tuple([z.string(), z.number(), z.number()]))

/** Predicts the seconds until the first disk is full, from the growth of the last two weeks. */
export const evaluateDiskDaysToFull: Evaluator = catchFailures(async ({ host, contact, earlier, run }) => {
  if (!contact.answers) return { measured: createMissingMeasurement(contact.reason) }
  if (!earlier) return { measured: createMissingMeasurement('the samples of earlier days cannot be read') }
  const disks = readRows(host, Rows, await run(statement))
  const today = contact.nowMs / 1_000 / secondsPerDay
  const forecasts = disks
    .map(([name, used, free]) => ({
      name,
      seconds: predictSecondsToFull(earlier.disks[name] ?? [], { day: today, used }, free),
    }))
    .filter((each): each is { name: string; seconds: number } => each.seconds !== undefined)
    .toSorted((a, b) => a.seconds - b.seconds)
  const [worst] = forecasts
  return {
    measured: worst
      ? createMeasurement(
          worst.seconds,
          forecasts.map(({ name }) => name),
        )
      : createMissingMeasurement(`host ${host.name} has disk samples of fewer than four days`),
    changes: sampleDisks(earlier, disks, today),
  }
})

/** Adds the first sample of a day for each current disk. Returns no changes when today already has samples. */
const sampleDisks = ({ disks: known }: SweepState, disks: z.infer<typeof Rows>, now: number): Partial<SweepState> => {
  const today = Math.floor(now)
  const latest = (name: string): number => known[name]?.at(-1)?.day ?? 0
  if (disks.every(([name]) => latest(name) >= today)) return {}
  const samples = disks.map(([name, used]) => {
    const retained = (known[name] ?? []).slice(1 - maxSampleDays)
    return [name, latest(name) >= today ? retained : [...retained, { day: now, used }]]
  })
  return { disks: Object.fromEntries(samples) }
}

export const secondsPerDay = 86_400
/** The window for the growth rate. */
const windowDays = 14
/** Minimum number of samples for a usable growth rate. */
const minimumSamples = 4
/** A drop below this share of the previous sample means a deletion; samples before it are ignored. */
const dropRatio = 0.95
/** The forecast for a disk that does not fill up: ten years, so that values stay comparable. */
const maxSeconds = 3_650 * secondsPerDay

/** The used bytes of a disk at a point in time. `day` is that time in days since 1970. */
export interface DiskSample {
  day: number
  used: number
}

/** Predicts the seconds until `free` bytes are used, by linear regression. Returns undefined for too few samples. */
export const predictSecondsToFull = (
  earlier: readonly DiskSample[],
  now: DiskSample,
  free: number,
): number | undefined => {
  const samples = afterLastDrop([...earlier.filter(({ day }) => day >= now.day - windowDays && day < now.day), now])
  if (samples.length < minimumSamples) return undefined
  const bytesPerDay = slopeOf(samples)
  return bytesPerDay > 0 ? Math.min((free / bytesPerDay) * secondsPerDay, maxSeconds) : maxSeconds
}

const afterLastDrop = (samples: readonly DiskSample[]): readonly DiskSample[] => {
  const isDrop = ({ used }: DiskSample, index: number): boolean => used < (samples[index - 1]?.used ?? 0) * dropRatio
  return samples.slice(Math.max(0, samples.findLastIndex(isDrop)))
}

const slopeOf = (samples: readonly DiskSample[]): number => {
  const meanDay = samples.reduce((sum, { day }) => sum + day, 0) / samples.length
  const meanUsed = samples.reduce((sum, { used }) => sum + used, 0) / samples.length
  const covariance = samples.reduce((sum, { day, used }) => sum + (day - meanDay) * (used - meanUsed), 0)
  const variance = samples.reduce((sum, { day }) => sum + (day - meanDay) ** 2, 0)
  return variance === 0 ? 0 : covariance / variance
}
