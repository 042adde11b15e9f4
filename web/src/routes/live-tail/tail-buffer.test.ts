import { describe, expect, it } from 'vitest'
import type { Row } from '#proto/query.ts'
import { addRows, emptyTail, getNextWindow, maxLines, overlapMs, type TailState } from './tail-buffer.ts'

const options = { key: ['query_id'], isComplete: true }
const rowAt = (time: number, id = 'a'): Row => ({ time, query_id: id })
const timesOf = ({ rows }: TailState): number[] => rows.map(({ timeMs }) => timeMs)

describe('the rows of a followed log', () => {
  it('are newest first, without those that an earlier request returned', () => {
    const first = addRows(emptyTail, [rowAt(20_000), rowAt(10_000)], options)
    const second = addRows(first, [rowAt(30_000), rowAt(20_000), rowAt(10_000)], options)
    expect(timesOf(second)).toEqual([30_000, 20_000, 10_000])
    expect(new Set(second.rows.map(({ id }) => id)).size).toBe(3)
  })

  it('include rows that become visible late', () => {
    const first = addRows(emptyTail, [rowAt(20_000)], options)
    expect(getNextWindow(first, 25_000).from * 1000).toBeLessThanOrEqual(20_000 - overlapMs + 1000)
    expect(timesOf(addRows(first, [rowAt(20_000), rowAt(12_000, 'late')], options))).toEqual([20_000, 12_000])
  })

  it('include equal rows as often as the log has them', () => {
    const first = addRows(emptyTail, [rowAt(20_000), rowAt(20_000)], options)
    expect(first.rows).toHaveLength(2)
    expect(addRows(first, [rowAt(20_000), rowAt(20_000)], options).rows).toHaveLength(2)
    expect(addRows(first, [rowAt(20_000), rowAt(20_000), rowAt(20_000)], options).rows).toHaveLength(3)
  })

  it('are complete and distinct for any order of flushes', () => {
    const all = Array.from({ length: 400 }, (_, n) => rowAt(1_000_000 + n * 250, `query ${n}`))
    let state = emptyTail
    for (let nowMs = 1_000_000; nowMs <= 1_120_000; nowMs += 5_000) {
      const { from, to } = getNextWindow(state, nowMs)
      // A row becomes visible up to 9 seconds after its event, depending on its thread.
      const visible = all.filter((row, n) => {
        const time = Number(row['time'])
        return time >= from * 1000 && time < to * 1000 && time + (n % 4) * 3_000 <= nowMs
      })
      state = addRows(state, visible.toReversed(), options)
    }
    expect(state.rows.map(({ row }) => row['query_id'])).toEqual(all.map((row) => row['query_id']).toReversed())
    expect(state.seen.size).toBeLessThan(100)
  })

  it('are limited, and count the dropped ones', () => {
    const rows = Array.from({ length: maxLines + 5 }, (_, n) => rowAt(n + 1, `query ${n}`))
    const state = addRows(emptyTail, rows, options)
    expect([state.rows.length, state.dropped, state.rows[0]?.timeMs]).toEqual([maxLines, 5, maxLines + 5])
  })

  it('report skipped rows, except before the first ones', () => {
    const incomplete = { ...options, isComplete: false }
    const first = addRows(emptyTail, [rowAt(20_000)], incomplete)
    expect([first.hasSkipped, addRows(first, [rowAt(60_000)], incomplete).hasSkipped]).toEqual([false, true])
  })
})
