import type { ResultColumn } from '#proto/console.ts'
import type { Cells, RowSink } from '../output/row-sinks.ts'

/** Rows of a result that wait for the results before it. If there are more, they are written as they arrive. */
export const maxWaitingRows = 1_000

/** The results of several hosts on their way to one output. */
export interface Lanes {
  begin(index: number, columns: readonly ResultColumn[]): void
  push(index: number, cells: Cells): void
  /** Ends a result, also one that failed. */
  end(index: number): void
}

interface Lane {
  columns?: readonly ResultColumn[]
  waiting: Cells[]
  write?: (cells: Cells) => void
  hasEnded: boolean
}

/** Writes small results in the order of their hosts, and large ones as they arrive, so that no host has to wait. */
export const createLanes = (count: number, sink: RowSink): Lanes => {
  const lanes = Array.from({ length: count }, (): Lane => ({ waiting: [], hasEnded: false }))
  let current = 0
  const flush = (lane: Lane | undefined): void => {
    if (!lane?.columns) return
    lane.write ??= sink.begin(lane.columns)
    for (const cells of lane.waiting) lane.write(cells)
    lane.waiting = []
  }
  return {
    begin(index, columns) {
      const lane = lanes[index]
      if (lane) lane.columns = columns
      if (index === current) flush(lane)
    },
    push(index, cells) {
      const lane = lanes[index]
      if (index === current && lane?.write) return lane.write(cells)
      lane?.waiting.push(cells)
      if ((lane?.waiting.length ?? 0) > maxWaitingRows) flush(lane)
    },
    end(index) {
      const lane = lanes[index]
      if (lane) lane.hasEnded = true
      for (; lanes[current]?.hasEnded; current += 1) flush(lanes[current])
      flush(lanes[current])
    },
  }
}
