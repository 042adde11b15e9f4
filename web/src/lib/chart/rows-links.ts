import type { ChartInfo } from '#proto/catalogue.ts'
import type { Row } from '#proto/query.ts'
import { getSession } from '#lib/state/session.svelte.ts'
import { view } from '#lib/state/view.svelte.ts'
import { findRowsPath } from './rows-path.ts'

interface RowsTarget {
  chart: ChartInfo
  /** The values of the placeholders. */
  row?: Row | undefined
  /** The column with the value. */
  column?: string | undefined
  /** Further URL parameters, such as another host. */
  parameters?: Record<string, string> | undefined
}

/** Links to the rows behind values; null for values without such a page. */
export interface RowsLinks {
  /** The rows in the time range of the page. */
  of: (target: RowsTarget) => string | null
  /** The rows of an interval in epoch milliseconds. */
  ofInterval: (target: RowsTarget, fromMs: number, toMs: number) => string | null
}

/** Returns links to the pages that the user may open. Call it while a component is initialized. */
export const createRowsLinks = (): RowsLinks => {
  const session = getSession()
  const find = ({ chart, row, column }: RowsTarget): string | null =>
    findRowsPath(chart, session.catalogue?.tables ?? [], row, column)
  return {
    of: (target) => {
      const path = find(target)
      return path && view.link(path, target.parameters)
    },
    ofInterval: (target, fromMs, toMs) => {
      const path = find(target)
      return path && view.linkToInterval(path, fromMs, toMs, target.parameters)
    },
  }
}
