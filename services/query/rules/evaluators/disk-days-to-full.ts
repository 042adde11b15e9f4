import { z } from 'zod'
import { type Earlier, maxDays, maxDisks } from '../earlier.ts'
import { measured, untold } from '../measured.ts'
import { type Evaluator, failing, readRows } from './evaluator.ts'

/** Disks of object stores claim a size without meaning. */
const statement = {
  what: 'rules',
  maxSeconds: 5,
  sql: `SELECT name, toFloat64(total_space - free_space), toFloat64(greatest(free_space - keep_free_space, 0))
FROM system.disks WHERE lower(type) = 'local' AND total_space > 0 ORDER BY name LIMIT ${maxDisks}`,
}
const Rows = z.array(z.tuple([z.string(), z.number(), z.number()]))

/** Seconds until the first disk is full, at the pace of the last two weeks. */
export const diskDaysToFull: Evaluator = failing(async ({ host, contact, earlier, ask }) => {
  if (!contact.answers) return { measured: untold(contact.reason) }
  if (!earlier) return { measured: untold('the samples of earlier days cannot be read now') }
  const disks = readRows(host, Rows, await ask(statement))
  const today = contact.nowMs / 1_000 / daySeconds
  const told = disks
    .map(([name, used, free]) => ({
      name,
      seconds: secondsToFull(earlier.disks[name] ?? [], { day: today, used }, free),
    }))
    .filter((each): each is { name: string; seconds: number } => each.seconds !== undefined)
    .toSorted((a, b) => a.seconds - b.seconds)
  const [worst] = told
  return {
    measured: worst
      ? measured(
          worst.seconds,
          told.map(({ name }) => name),
        )
      : untold(`host ${host.name} has been sampled on too few days; four are needed`),
    keep: sampled(earlier, disks, today),
  }
})

/** The first sample of each day, of the disks that there are now; nothing when this day has one of each. */
const sampled = ({ disks: known }: Earlier, disks: z.infer<typeof Rows>, now: number): Partial<Earlier> => {
  const today = Math.floor(now)
  const latest = (name: string): number => known[name]?.at(-1)?.day ?? 0
  if (disks.every(([name]) => latest(name) >= today)) return {}
  const samples = disks.map(([name, used]) => {
    const kept = (known[name] ?? []).slice(1 - maxDays)
    return [name, latest(name) >= today ? kept : [...kept, { day: now, used }]]
  })
  return { disks: Object.fromEntries(samples) }
}

export const daySeconds = 86_400
/** How far back growth is looked at. */
const windowDays = 14
/** Fewer days say nothing. */
const minimumSamples = 4
/** Less than this after a sample means that something was deleted: what was before says nothing about what comes. */
const droppedTo = 0.95
/** A disk that does not fill lasts ten years, as a number that can be compared. */
const longestSeconds = 3_650 * daySeconds

/** Bytes used at an instant, in days since 1970. */
export interface Sample {
  day: number
  used: number
}

/** Seconds until `free` bytes are used up, by the least squares through the samples; undefined when these are too few. */
export const secondsToFull = (earlier: readonly Sample[], now: Sample, free: number): number | undefined => {
  const samples = afterLastDrop([...earlier.filter(({ day }) => day >= now.day - windowDays && day < now.day), now])
  if (samples.length < minimumSamples) return undefined
  const bytesPerDay = slopeOf(samples)
  return bytesPerDay > 0 ? Math.min((free / bytesPerDay) * daySeconds, longestSeconds) : longestSeconds
}

const afterLastDrop = (samples: readonly Sample[]): readonly Sample[] => {
  const isDrop = ({ used }: Sample, index: number): boolean => used < (samples[index - 1]?.used ?? 0) * droppedTo
  return samples.slice(Math.max(0, samples.findLastIndex(isDrop)))
}

const slopeOf = (samples: readonly Sample[]): number => {
  const meanDay = samples.reduce((sum, { day }) => sum + day, 0) / samples.length
  const meanUsed = samples.reduce((sum, { used }) => sum + used, 0) / samples.length
  const covariance = samples.reduce((sum, { day, used }) => sum + (day - meanDay) * (used - meanUsed), 0)
  const variance = samples.reduce((sum, { day }) => sum + (day - meanDay) ** 2, 0)
  return variance === 0 ? 0 : covariance / variance
}
