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
