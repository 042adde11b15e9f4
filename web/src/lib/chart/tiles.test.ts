import { describe, expect, it } from 'vitest'
import type { ChartInfo } from '#proto/catalogue.ts'
import { toTiles } from './tiles.ts'

const chart: ChartInfo = {
  name: 'parts',
  topic: 'merges',
  title: 'Parts',
  doc: 'Parts.',
  feature: 'TABLES',
  kind: 'treemap',
  requires: [],
  parameters: [],
  cache: 'standard',
  columns: [
    { name: 'table', role: 'label', unit: 'count' },
    { name: 'partition', role: 'series', unit: 'count' },
    { name: 'bytes', role: 'value', unit: 'bytes' },
  ],
}
const row = (table: string, partition: string, bytes: number | string) => ({ table, partition, bytes })

describe('treemap', () => {
  const tiles = toTiles(chart, [row('a', '1', 10), row('b', '1', '50'), row('b', '2', 40), row('c', '1', 0)], 100, 100)

  it('has a proportional rectangle per non-empty part', () => {
    expect(tiles.map(({ group, name }) => `${group} ${name}`).toSorted()).toEqual(['a 1', 'b 1', 'b 2'])
    const area = new Map(tiles.map((tile) => [`${tile.group} ${tile.name}`, tile.width * tile.height]))
    expect((area.get('b 1') ?? 0) / (area.get('a 1') ?? 1)).toBeGreaterThan(4)
  })

  it('keeps rectangles within its bounds', () => {
    for (const { x, y, width, height } of tiles) {
      expect(Math.min(x, y, width, height)).toBeGreaterThanOrEqual(0)
      expect(Math.max(x + width, y + height)).toBeLessThanOrEqual(100)
    }
  })

  it('lists the largest group first, and keeps the row of each rectangle', () => {
    expect(tiles[0]?.group).toBe('b')
    expect(tiles.every(({ row: { table, partition }, group, name }) => table === group && partition === name)).toBe(
      true,
    )
  })

  it('is empty without rows', () => expect(toTiles(chart, [], 100, 100)).toEqual([]))
})
