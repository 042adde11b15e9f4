import { area, line } from 'd3-shape'
import { getColor } from './colors.ts'
import type { TimeSeries } from './series.ts'

/** The value of a series at one instant, as the lower and upper edge of its area. */
export interface Mark {
  timeMs: number
  base: number
  top: number | null
}

export interface Layer {
  key: string
  label: string
  color: string
  /** SVG dash pattern, which distinguishes lines for users who cannot distinguish the colours. */
  dash?: string
  marks: readonly Mark[]
}

const dashPatterns = ['', '6 3', '2 2', '8 3 2 3', '4 4', '10 3', '2 4', '6 2 2 2']

/** Converts the shown series to layers. Each layer starts at zero, or at the top of the previous one if stacked. */
export const toLayers = ({ times, series }: TimeSeries, stacked: boolean, shown: (key: string) => boolean): Layer[] => {
  const heights = times.map(() => 0)
  return series.flatMap(({ key, label, color, values }) => {
    if (!shown(key)) return []
    const marks = times.map((timeMs, at) => {
      const value = values[at] ?? null
      if (!stacked) return { timeMs, base: 0, top: value }
      const base = heights[at] ?? 0
      heights[at] = base + (value ?? 0)
      return { timeMs, base, top: heights[at] ?? base }
    })
    return [{ key, label, color: getColor(color), dash: dashPatterns[color % dashPatterns.length], marks }]
  })
}

/** Maximum distance from the pointer to a line that counts as pointing at it, in pixels. */
const maxLineDistance = 16

/** Returns the key of the series at a height in pixels: the stacked area, or the nearest line; null if there is none. */
export const findSeriesAt = (
  layers: readonly Layer[],
  position: number,
  y: number,
  stacked: boolean,
  yScale: PixelScale,
): string | null => {
  const marks = layers.flatMap(({ key, marks: all }) => {
    const mark = all[position]
    return mark?.top == null ? [] : [{ key, base: yScale(mark.base), top: yScale(mark.top) }]
  })
  if (stacked) return marks.find(({ base, top }) => y <= base && y >= top && base !== top)?.key ?? null
  const [nearest] = marks.toSorted((one, other) => Math.abs(one.top - y) - Math.abs(other.top - y))
  return nearest && Math.abs(nearest.top - y) <= maxLineDistance ? nearest.key : null
}

/** Returns the lowest and the highest drawn value. */
export const getValueExtent = (layers: readonly Layer[]): [number, number] => {
  let [lowest, highest] = [0, 0]
  for (const { marks } of layers) {
    for (const { top } of marks) {
      if (top === null) continue
      lowest = Math.min(lowest, top)
      highest = Math.max(highest, top)
    }
  }
  return [lowest, highest]
}

export type PixelScale = (value: number) => number

/** Returns the SVG path of a line, with gaps at missing values. */
export const buildLinePath = (marks: readonly Mark[], x: PixelScale, y: PixelScale): string =>
  line<Mark>()
    .defined((mark) => mark.top !== null)
    .x((mark) => x(mark.timeMs))
    .y((mark) => y(mark.top ?? 0))([...marks]) ?? ''

export const buildAreaPath = (marks: readonly Mark[], x: PixelScale, y: PixelScale): string =>
  area<Mark>()
    .defined((mark) => mark.top !== null)
    .x((mark) => x(mark.timeMs))
    .y0((mark) => y(mark.base))
    .y1((mark) => y(mark.top ?? 0))([...marks]) ?? ''

/** Returns all bars of a layer as one SVG path, which renders faster than one element per bar. */
export const buildBarPath = (marks: readonly Mark[], x: PixelScale, y: PixelScale, width: number): string =>
  marks
    .map(({ timeMs, base, top }) =>
      top === null || top === base ? '' : `M${x(timeMs)} ${y(top)}h${width}V${y(base)}h${-width}z`,
    )
    .join('')
