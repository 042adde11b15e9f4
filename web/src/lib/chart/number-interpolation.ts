/**
 * Replaces the package `d3-interpolate` in the build. The scales of charts have numbers only; interpolation of colours and
 * texts would add 4 KiB to the first visit.
 */
export const interpolateNumber = (from: number, to: number) => (share: number) => from * (1 - share) + to * share
export const interpolateRound = (from: number, to: number) => (share: number) =>
  Math.round(from * (1 - share) + to * share)
export { interpolateNumber as interpolate }

/** Scales with several colours use it; charts have none. */
export const piecewise = (): never => {
  throw new Error('cannot interpolate: scales of charts have one range')
}
