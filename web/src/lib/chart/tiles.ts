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
  x: number
  y: number
  width: number
  height: number
  /** Position of the group when groups are sorted by size; 0 is the largest. */
  rank: number
}

interface Node {
  group: string
  name: string
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
  const ranks = new Map(groups.map(({ group }, rank) => [group, rank]))
  const root = hierarchy<Node>({ group: '', name: '', children: groups }).sum((node) => node.value ?? 0)
  const laid = treemap<Node>().tile(treemapSquarify).size([width, height]).paddingInner(gap).paddingOuter(gap)(root)
  return laid.leaves().flatMap(({ data, x0, y0, x1, y1, depth }) =>
    depth === 0
      ? []
      : [
          {
            group: data.group,
            name: data.name,
            value: data.value ?? 0,
            x: x0,
            y: y0,
            width: x1 - x0,
            height: y1 - y0,
            rank: ranks.get(data.group) ?? 0,
          },
        ],
  )
}
