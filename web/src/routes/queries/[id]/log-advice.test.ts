import { describe, expect, it } from 'vitest'
import type { LogSetting, QuerySummary } from '#proto/query-detail.ts'
import { explainEmptyLog, processorLog, threadLog } from './log-advice.ts'

// Only these fields of a summary matter here.
const summary = { status: 'finished', user: 'app', durationMs: 40 } as QuerySummary
const settingOf = (name: string, value: string, source: LogSetting['source'] = 'default'): LogSetting => ({
  name,
  value,
  source,
})

describe('the reason for an empty log', () => {
  it('is the setting of the host', () => {
    const text = explainEmptyLog(threadLog, { summary, logSettings: [settingOf('log_query_threads', '0')] })
    expect(text).toContain('log_query_threads = 0 (the default of this host)')
    expect(text).toContain('in the profile of user app')
  })

  it('is not the setting if that is on', () => {
    const on = settingOf('log_processors_profiles', '1', 'query')
    const text = explainEmptyLog(processorLog, { summary, logSettings: [on] })
    expect(text).toContain('log_processors_profiles = 1 (set by the query or the profile of its user)')
    expect(text).toContain('has no rows of this query')
    expect(text).not.toContain('add SETTINGS')
    const shortest = settingOf('log_queries_min_query_duration_ms', '100')
    expect(explainEmptyLog(processorLog, { summary, logSettings: [on, shortest] })).toContain(
      'shorter than log_queries_min_query_duration_ms = 100',
    )
  })

  it('is the state of the query, or a missing setting', () => {
    const running = { summary: { ...summary, status: 'running' as const }, logSettings: [] }
    expect(explainEmptyLog(threadLog, running)).toBe('The host logs threads when the query ends.')
    expect(explainEmptyLog(threadLog, { summary, logSettings: [] })).toBe('This host has no setting log_query_threads.')
  })
})
