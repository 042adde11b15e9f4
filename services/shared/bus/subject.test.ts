import { expect, it } from 'vitest'
import { createSubjectMatcher } from './subject.ts'

it.each([
  ['svc.query.gateway.chart', 'svc.query.gateway.chart', true],
  ['svc.query.gateway.chart', 'svc.query.gateway.charts', false],
  ['svc.query.*.*', 'svc.query.gateway.chart', true],
  ['svc.query.*.*', 'svc.query.gateway.chart.q1', false],
  ['svc.query.*.*', 'svc.query.gateway', false],
  ['svc.query.*.*.q1', 'svc.query.gateway.chart.q1', true],
  ['svc.query.*.*.q1', 'svc.query.gateway.chart.q2', false],
  ['svc.*.mcp.>', 'svc.query.mcp.chart', true],
  ['svc.*.mcp.>', 'svc.query.mcp', false],
  ['inbox.gateway.g1.*', 'inbox.gateway.g1.4', true],
  ['inbox.gateway.g1.*', 'inbox.gateway.g1.', false],
  ['inbox.gateway.g1.*', 'inbox.gateway.g1.4.x', false],
  ['inbox.gateway.g1.*', 'inbox.gateway.g2.4', false],
  ['event.>', 'event.instance.announced', true],
  ['event.>', 'event', false],
  ['>', 'event', true],
])('%s matches %s: %s', (pattern, subject, matches) => {
  expect(createSubjectMatcher(pattern)(subject)).toBe(matches)
})
