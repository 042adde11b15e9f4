import { hierarchy, treemap, treemapSquarify } from 'd3-hierarchy'
import type { ChartInfo } from '#proto/catalogue.ts'
import type { Row } from '#proto/query.ts'
import { readNumber } from './series.ts'

/** A rectangle of a treemap, sized by its value. */
export interface Tile {
  group: string
  /** The value of the `series` column; empty if the chart has no such column. */
  name: string
  value: number
  row: Row
  x: number
  y: number
  width: number
  height: number
}

interface Node {
  group: string
  name: string
  row?: Row
  value?: number
  children?: Node[]
}

/** Maximum number of rectangles. Smaller ones would be illegible; the table view lists all values. */
const maxTiles = 400
const gap = 1

/** Lays out the rows of a treemap. Rows are grouped by the `label` column and named by `series`. */
export const toTiles = (chart: ChartInfo, rows: readonly Row[], width: number, height: number): Tile[] => {
  const [label, series, value] = (['label', 'series', 'value'] as const).map(
    (role) => chart.columns.find((column) => column.role === role)?.name ?? '',
  )
  const parts = rows
    .map((row) => ({
      group: String(row[label ?? ''] ?? ''),
      name: String(row[series ?? ''] ?? ''),
      value: readNumber(row[value ?? '']) ?? 0,
      row,
    }))
    .filter((part) => part.value > 0)
    .toSorted((a, b) => b.value - a.value)
    .slice(0, maxTiles)
  const groups = [...Map.groupBy(parts, (part) => part.group)]
    .map(([group, children]) => ({
      group,
      name: '',
      children,
      total: children.reduce((sum, part) => sum + part.value, 0),
    }))
    .toSorted((one, other) => other.total - one.total)
  const root = hierarchy<Node>({ group: '', name: '', children: groups }).sum((node) => node.value ?? 0)
  const laid = treemap<Node>().tile(treemapSquarify).size([width, height]).paddingInner(gap).paddingOuter(gap)(root)
  return laid
    .leaves()
    .flatMap(({ data: { group, name, value: size = 0, row }, x0, y0, x1, y1 }) =>
      row ? [{ group, name, value: size, row, x: x0, y: y0, width: x1 - x0, height: y1 - y0 }] : [],
    )
}
