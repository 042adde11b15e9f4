import { describe, expect, it } from 'vitest'
import type { LatencyCell, TrendPoint } from '#proto/fingerprints.ts'
import {
  createLatencyBox,
  computeVerticalPosition,
  computeMapExtent,
  isUnboundedBox,
  readLatencyBox,
  unboundedBox,
  writeLatencyBox,
} from './latency-box.ts'

const minute = 60_000
const cell = (bucket: number, fromMs: number, toMs: number): LatencyCell => ({
  timeMs: bucket * minute,
  fromMs,
  toMs,
  calls: 1,
  errors: 0,
})
const cells = [cell(0, 8, 12), cell(1, 12, 16), cell(3, 64, 91), cell(9, 91, 128)]
const nothing = { calls: 0, errors: 0, totalMs: 0, p50Ms: null, p95Ms: null, p99Ms: null }
const trend = Array.from({ length: 10 }, (_, index): TrendPoint => ({
  timeMs: index * minute,
  ...nothing,
  readRows: 0,
  readBytes: 0,
  peakMemoryBytes: 0,
}))
const extent = computeMapExtent(cells, trend)

describe('map extent', () => {
  it('covers all buckets and durations', () => {
    expect(extent).toEqual({ fromMs: 0, toMs: 10 * minute, stepMs: minute, shortestMs: 8, longestMs: 128 })
  })

  it.each([
    [128, 0],
    [32, 0.5],
    [8, 1],
    [0, 1],
  ])('places %s ms at depth %s', (ms, depth) => expect(computeVerticalPosition(ms, extent)).toBeCloseTo(depth))

  it('handles a single bucket and cells of zero duration', () => {
    expect(computeMapExtent([cell(0, 0, 2)], trend.slice(0, 1))).toMatchObject({
      toMs: minute,
      shortestMs: 1,
      longestMs: 2,
    })
  })
})

describe('selection', () => {
  it('is extended to whole cells in any drag direction', () => {
    const box = { since: 60, until: 240, minMs: 12, maxMs: 91 }
    expect(createLatencyBox({ x: 0.11, y: 0.2 }, { x: 0.35, y: 0.8 }, cells, extent)).toEqual(box)
    expect(createLatencyBox({ x: 0.35, y: 0.8 }, { x: 0.11, y: 0.2 }, cells, extent)).toEqual(box)
  })

  it('is a single cell after a click', () => {
    expect(createLatencyBox({ x: 0.35, y: 0.15 }, { x: 0.35, y: 0.15 }, cells, extent)).toEqual({
      since: 180,
      until: 240,
      minMs: 64,
      maxMs: 91,
    })
  })

  it.each([
    ['since=10&until=20&min=5&max=9', { since: 10, until: 20, minMs: 5, maxMs: 9 }],
    ['min=5', { ...unboundedBox, minMs: 5 }],
    ['since=20&until=10', unboundedBox],
    ['since=10', unboundedBox],
    ['min=9&max=5', unboundedBox],
    ['min=-1&max=x', unboundedBox],
  ])('is parsed from %s', (search, box) => {
    expect(readLatencyBox(new URLSearchParams(search))).toEqual(box)
    expect(isUnboundedBox(readLatencyBox(new URLSearchParams(search)))).toBe(box === unboundedBox)
  })

  it('round-trips through the URL', () => {
    expect(writeLatencyBox({ since: 10, until: 20, minMs: 5, maxMs: null })).toEqual({
      since: '10',
      until: '20',
      min: '5',
      max: null,
    })
  })
})
