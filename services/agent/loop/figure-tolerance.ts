import { convertCell } from './bound-columns.ts'
import type { Figure, FigureReading } from './figures.ts'
import type { NumberCell } from './result-cells.ts'

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
  const hasDecimals = tolerance * 2 < reading.scale
  const maxRounding = hasDecimals || reading.kind === 'percent' ? tolerance : Math.abs(candidate) * maxRoundingShare
  const isRounded = Math.abs(difference) <= Math.min(tolerance, maxRounding) + exact
  const digit = findLastDigit(reading)
  if (isRounded && (isLimit || !/above|below|almost/.test(bound))) return true
  if (bound === 'about') {
    const share = Math.max(Math.abs(value) * minAboutShare, Math.min(Math.abs(value) * maxAboutShare, digit / 2))
    return Math.abs(difference) <= share
  }
  if (bound === 'almost') return difference < 0 && -difference < Math.min(Math.abs(value) * maxAlmostShare, digit)
  if (bound === 'above' || bound === 'at least') return difference > exact && difference <= Math.abs(value)
  return (bound === 'below' || bound === 'at most') && difference < -exact && -difference <= Math.abs(value) / 2
}

/** Rounding must not mislead: `1 GiB` is not 1.4 GiB. Decimals show the precision; percentages usually have none. */
const maxRoundingShare = 0.1
const minAboutShare = 0.01
const maxAboutShare = 0.05
const maxAlmostShare = 0.1

/** Returns the value of the last digit that is not zero: 100 for `1200`. */
const findLastDigit = ({ value, tolerance }: FigureReading): number => {
  let digit = tolerance * 2
  if (value === 0) return digit
  const isMultiple = (of: number) => Math.abs(value / of - Math.round(value / of)) < 1e-9
  for (let higher = digit * 10; isMultiple(higher); higher *= 10) digit = higher
  return digit
}

/** Returns whether a value satisfies the bound of a figure, such as `more than 30`. */
export const satisfiesBound = (
  { bound }: Figure,
  reading: FigureReading,
  cell: NumberCell | null | undefined,
): boolean =>
  (cell ? convertCell(cell, reading) : []).some(({ value }) => {
    if (bound === 'above') return value > reading.value
    if (bound === 'below') return value < reading.value
    return bound === 'at least' ? value >= reading.value : value <= reading.value
  })
