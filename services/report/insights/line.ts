/** A straight line through points, and how well they lie on it. */
export interface Line {
  /** Per unit of x. */
  slope: number
  /** Standard deviation of what is left beside the line. */
  spread: number
}

export interface Point {
  x: number
  y: number
}

const fewestPoints = 3

/** The line of least squares; undefined of too few points, or when they are all of one x. */
export const fitLine = (points: readonly Point[]): Line | undefined => {
  if (points.length < fewestPoints) return undefined
  const x = mean(points.map((point) => point.x))
  const y = mean(points.map((point) => point.y))
  const width = sum(points.map((point) => (point.x - x) ** 2))
  if (width === 0) return undefined
  const slope = sum(points.map((point) => (point.x - x) * (point.y - y))) / width
  const left = sum(points.map((point) => (point.y - y - slope * (point.x - x)) ** 2))
  return { slope, spread: Math.sqrt(left / (points.length - 2)) }
}

const sum = (figures: readonly number[]): number => figures.reduce((total, figure) => total + figure, 0)
const mean = (figures: readonly number[]): number => sum(figures) / figures.length
