import { expect, it } from 'vitest'
import { getAffectedQueries, getQueriesBefore } from './affected-queries.ts'

const minuteMs = 60_000
const causes = { path: '/tables/failed-queries', minutes: null }
const episode = { causes, sinceMs: 100 * minuteMs, evaluatedAtMs: 130 * minuteMs }

it('covers an episode from before its first breach until now, or until its recovery', () => {
  const firing = getAffectedQueries({ ...episode, phase: 'firing' }, 140 * minuteMs)
  expect(firing).toEqual({
    label: 'Affected queries',
    path: '/tables/failed-queries',
    fromMs: 90 * minuteMs,
    toMs: 140 * minuteMs,
  })
  expect(getAffectedQueries({ ...episode, phase: 'cleared' }, 140 * minuteMs).toMs).toBe(130 * minuteMs)
})

it('begins as early as the window of the rule', () => {
  const hour = { ...causes, minutes: 60 }
  expect(getQueriesBefore({ causes: hour, atMs: 100 * minuteMs })).toMatchObject({
    fromMs: 40 * minuteMs,
    toMs: 101 * minuteMs,
  })
})

it('leads to all queries of the time if no queries cause the condition', () => {
  expect(getAffectedQueries({ ...episode, causes: null, phase: 'firing' }, 140 * minuteMs)).toMatchObject({
    label: 'Queries at that time',
    path: '/tables/slow-queries?p.min_duration_s=0',
  })
})
