import type { Figure, FigureReading } from './figures.ts'

/** A value with its rounding tolerance, and whether a text such as `more than 5` may state the value 5 itself. */
export interface CandidateValue {
  value: number
  tolerance?: number
  isLimit?: boolean
}

/** Returns whether a value rounds to the figure as written, or is within the bound that the words before it state. */
export const isWithinTolerance = (
  { bound }: Figure,
  reading: FigureReading,
  { value: candidate, tolerance: own = 0, isLimit = false }: CandidateValue,
): boolean => {
  const { value, tolerance } = reading
  const difference = (value < 0 ? candidate : Math.abs(candidate)) - value
  const exact = own + Math.abs(value) * Number.EPSILON * 4
  const isRounded = Math.abs(difference) <= tolerance + exact
  const digit = findLastDigit(reading)
  if (isRounded && (isLimit || !/above|below/.test(bound))) return true
  if (bound === 'about') {
    const share = Math.max(Math.abs(value) * minAboutShare, Math.min(Math.abs(value) * maxAboutShare, digit / 2))
    return Math.abs(difference) <= share
  }
  if (bound === 'almost') return difference < 0 && -difference < Math.min(Math.abs(value) * maxAlmostShare, digit)
  if (bound === 'above' || bound === 'at least') return difference > exact && difference <= Math.abs(value)
  return (bound === 'below' || bound === 'at most') && difference < -exact && -difference <= Math.abs(value) / 2
}

const minAboutShare = 0.01
const maxAboutShare = 0.05
const maxAlmostShare = 0.25

/** Returns the value of the last digit that is not zero: 100 for `1200`. */
const findLastDigit = ({ value, tolerance }: FigureReading): number => {
  let digit = tolerance * 2
  if (value === 0) return digit
  const isMultiple = (of: number) => Math.abs(value / of - Math.round(value / of)) < 1e-9
  for (let higher = digit * 10; isMultiple(higher); higher *= 10) digit = higher
  return digit
}
