import { area, line } from 'd3-shape'
import type { TimeSeries } from './series.ts'

/** One instant of a drawn series, with the lower and upper edge of its area. */
export interface Mark {
  timeMs: number
  base: number
  top: number | null
}

export interface Layer {
  key: string
  label: string
  color: string
  /** The dash pattern that distinguishes lines where colours are not sufficient. */
  dash?: string
  marks: readonly Mark[]
}

export const getSeriesColor = (index: number): string => `var(--chart-${(index % 8) + 1})`

const dashes = ['', '6 3', '2 2', '8 3 2 3', '4 4', '10 3', '2 4', '6 2 2 2']

/** Converts series to layers of marks, each from zero or stacked on the previous ones. */
export const toLayers = ({ times, series }: TimeSeries, stacked: boolean, shown: (key: string) => boolean): Layer[] => {
  const heights = times.map(() => 0)
  return series.flatMap(({ key, label, values }, index) => {
    if (!shown(key)) return []
    const marks = times.map((timeMs, at) => {
      const value = values[at] ?? null
      if (!stacked) return { timeMs, base: 0, top: value }
      const base = heights[at] ?? 0
      heights[at] = base + (value ?? 0)
      return { timeMs, base, top: heights[at] ?? base }
    })
    return [{ key, label, color: getSeriesColor(index), dash: dashes[index % dashes.length], marks }]
  })
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

/** Returns the line of a layer, interrupted where values are missing. */
export const linePath = (marks: readonly Mark[], x: PixelScale, y: PixelScale): string =>
  line<Mark>()
    .defined((mark) => mark.top !== null)
    .x((mark) => x(mark.timeMs))
    .y((mark) => y(mark.top ?? 0))([...marks]) ?? ''

export const areaPath = (marks: readonly Mark[], x: PixelScale, y: PixelScale): string =>
  area<Mark>()
    .defined((mark) => mark.top !== null)
    .x((mark) => x(mark.timeMs))
    .y0((mark) => y(mark.base))
    .y1((mark) => y(mark.top ?? 0))([...marks]) ?? ''

/** Returns the bars of a layer as one path, which renders faster than one path element per bar. */
export const barPath = (marks: readonly Mark[], x: PixelScale, y: PixelScale, width: number): string =>
  marks
    .map(({ timeMs, base, top }) =>
      top === null || top === base ? '' : `M${x(timeMs)} ${y(top)}h${width}V${y(base)}h${-width}z`,
    )
    .join('')
