import type { Insight } from '#proto/insights.ts'

/** Figures of hours like the last one, and how far they may be trusted. */
export interface SameHours<T> {
  rows: T[]
  confidence: Insight['confidence']
  /** In words: `the same hour of 4 weeks`. */
  window: string
}

const week = 168
const leastRows = 6
const manyRows = 9

/**
 * The rows of the same hour of earlier weeks, with the hour before and after; where there are too few, of earlier days.
 * Undefined when there are too few of these as well.
 */
export const sameHours = <T extends { hoursAgo: number }>(rows: readonly T[]): SameHours<T> | undefined => {
  const earlier = rows.filter(({ hoursAgo }) => hoursAgo > 1)
  const ofWeeks = earlier.filter(({ hoursAgo }) => isNear(hoursAgo, week))
  if (ofWeeks.length >= leastRows) {
    const confidence = ofWeeks.length >= manyRows ? 'high' : 'medium'
    return { rows: ofWeeks, confidence, window: 'last hour, against the same hour of earlier weeks' }
  }
  const ofDays = earlier.filter(({ hoursAgo }) => isNear(hoursAgo, 24))
  if (ofDays.length < leastRows) return undefined
  return { rows: ofDays, confidence: 'low', window: 'last hour, against the same hour of earlier days' }
}

/** Whether it is a multiple of a period ago, give or take an hour. */
const isNear = (hoursAgo: number, period: number): boolean => {
  const past = hoursAgo % period
  return hoursAgo >= period - 1 && (past <= 1 || past === period - 1)
}
