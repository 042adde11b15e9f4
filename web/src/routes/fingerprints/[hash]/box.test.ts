import { describe, expect, it } from 'vitest'
import type { LatencyCell, TrendPoint } from '#proto/fingerprints.ts'
import { boxBetween, depthOf, extentOf, isWhole, readBox, wholeBox, writeBox } from './box.ts'

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
const extent = extentOf(cells, trend)

describe('the place of the map', () => {
  it('reaches from the first bucket to the end of the last, from the shortest cell to the longest', () => {
    expect(extent).toEqual({ fromMs: 0, toMs: 10 * minute, stepMs: minute, shortestMs: 8, longestMs: 128 })
  })

  it.each([
    [128, 0],
    [32, 0.5],
    [8, 1],
    [0, 1],
  ])('has %s ms at a depth of %s', (ms, depth) => expect(depthOf(ms, extent)).toBeCloseTo(depth))

  it('bears one bucket, and cells of no time at all', () => {
    expect(extentOf([cell(0, 0, 2)], trend.slice(0, 1))).toMatchObject({ toMs: minute, shortestMs: 1, longestMs: 2 })
  })
})

describe('a box', () => {
  it('is widened to whole cells, whichever way it was dragged', () => {
    const box = { since: 60, until: 240, minMs: 12, maxMs: 91 }
    expect(boxBetween({ x: 0.11, y: 0.2 }, { x: 0.35, y: 0.8 }, cells, extent)).toEqual(box)
    expect(boxBetween({ x: 0.35, y: 0.8 }, { x: 0.11, y: 0.2 }, cells, extent)).toEqual(box)
  })

  it('is a single cell where somebody only pointed', () => {
    expect(boxBetween({ x: 0.35, y: 0.15 }, { x: 0.35, y: 0.15 }, cells, extent)).toEqual({
      since: 180,
      until: 240,
      minMs: 64,
      maxMs: 91,
    })
  })

  it.each([
    ['since=10&until=20&min=5&max=9', { since: 10, until: 20, minMs: 5, maxMs: 9 }],
    ['min=5', { ...wholeBox, minMs: 5 }],
    ['since=20&until=10', wholeBox],
    ['since=10', wholeBox],
    ['min=9&max=5', wholeBox],
    ['min=-1&max=x', wholeBox],
  ])('is read from %s', (search, box) => {
    expect(readBox(new URLSearchParams(search))).toEqual(box)
    expect(isWhole(readBox(new URLSearchParams(search)))).toBe(box === wholeBox)
  })

  it('is written so that it can be read', () => {
    expect(writeBox({ since: 10, until: 20, minMs: 5, maxMs: null })).toEqual({
      since: '10',
      until: '20',
      min: '5',
      max: null,
    })
  })
})
