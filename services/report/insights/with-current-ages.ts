import type { Insight } from '#proto/insights.ts'
import { hasInstantMarks, replaceInstantMarks } from '#proto/instant-marks.ts'
import { formatRelativeTime } from '../format.ts'

/** Returns an insight whose text has the ages of now. */
export const withCurrentAges = (insight: Insight, nowMs: number): Insight => {
  const { detail } = insight
  if (!hasInstantMarks(detail)) return insight
  const current = replaceInstantMarks(detail, (atMs) => formatRelativeTime(atMs, nowMs))
  return { ...insight, detail: current, detailTemplate: detail }
}
