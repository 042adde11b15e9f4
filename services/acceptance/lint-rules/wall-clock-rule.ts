import { Visitor } from 'oxc-parser'
import type { LintRule } from './rules.ts'
import { findLineNumber, parseSource } from '../../testing/source-file.ts'

/**
 * Rejects comparisons, additions and subtractions with wall-clock time. The wall clock can be set forwards or back, so
 * durations must be measured with `Clock.elapsedMs`.
 */
export const forbidWallClockArithmetic: LintRule = (file) => {
  const { program } = parseSource(file)
  const names = new Set<string>()
  const found: string[] = []
  const isReading = (start: number, end: number): boolean => {
    const text = file.text.slice(start, end)
    return /\bclock\.now\(\)$/i.test(text) || names.has(text)
  }
  const collector = new Visitor({
    VariableDeclarator: ({ id, init }) => {
      if (id.type === 'Identifier' && init && isReading(init.start, init.end)) names.add(id.name)
    },
  })
  collector.visit(program)
  new Visitor({
    BinaryExpression: ({ start, left, right, operator }) => {
      if (!['<', '<=', '>', '>=', '-', '+'].includes(operator)) return
      if ([left, right].some((side) => isReading(side.start, side.end)))
        found.push(`${file.path}:${findLineNumber(file, start)} calculation with the wall clock; use Clock.elapsedMs`)
    },
    CallExpression: ({ start, callee }) => {
      if (file.text.slice(callee.start, callee.end) === 'Date.now')
        found.push(`${file.path}:${findLineNumber(file, start)} Date.now() bypasses Clock; use Clock.now()`)
    },
    NewExpression: ({ start, callee, arguments: given }) => {
      if (given.length === 0 && file.text.slice(callee.start, callee.end) === 'Date')
        found.push(`${file.path}:${findLineNumber(file, start)} new Date() bypasses Clock; use Clock.now()`)
    },
  }).visit(program)
  return found
}

/**
 * Files that may calculate with the wall clock, each with the reason. Their instants are stored, shown, chosen by a
 * user, or come from another machine.
 */
export const wallClockFiles: Readonly<Record<string, string>> = {
  'services/shared/time/clock.ts': 'the clock itself',
  'services/shared/bus/signatures.ts': 'from another machine: when it signed a request',
  'services/agent/loop/request-approval.ts': 'shown: when an approval expires; a timer ends it',
  'services/agent/conversations/conversations.ts': 'stored: conversations older than some days',
  'services/agent/models/sign-in.ts': 'stored: when a key of a gateway ends',
  'services/cli/commands/alerts.ts': 'shown: how long a condition has lasted',
  'services/cli/commands/changes.ts': 'stored: changes of the last day',
  'services/cli/doctor/examine.ts': 'from another machine: when its certificate expires',
  'services/cli/top/run-top.ts': 'shown: when the list was refreshed',
  'services/client/client.ts': 'from another machine: the date of a Retry-After header',
  'services/alert-dispatcher/delivery/preview-target.ts': 'shown: an example message',
  'services/alert-dispatcher/handlers.ts': 'stored: history older than some days',
  'services/alert-dispatcher/conditions/handlers.ts': 'chosen by a person: the end of an acknowledgement',
  'services/gateway/auth/idp/access-token.ts': 'signed by another machine: the end of a token',
  'services/gateway/auth/idp/session-token.ts': 'signed by another machine: the end of a token',
  'services/gateway/auth/keys/keys.ts': 'signed: the end of an API key',
  'services/gateway/auth/keys/registry.ts': 'signed: the end of an API key',
  'services/gateway/routes/cron.ts': 'stored: audit records older than some days',
  'services/gateway/limits/limits.ts': 'the end of the day (UTC), by which guests are counted',
  'services/gateway/routes/connections.ts': 'shown: when a connection session ends',
  'services/gateway/routes/device-login.ts': 'stored: the end of a code, followed over jumps where it is read',
  'services/ingest/adapters/prometheus.ts': 'of the sender: an alert resolves at its end',
  'services/ingest/deployments.ts': 'stored: deployments older than some days',
  'services/ingest/service.ts': 'stored: events older than some days',
  'services/mcp/call-tool.ts': 'stored: when a call began',
  'services/query/analysis/analysis-window.ts': 'shown: the window, by the clock of the host',
  'services/query/connections/user-connections.ts': 'sealed by another machine: the end of a session',
  'services/query/connections/handlers.ts': 'sealed for another machine: the end of a session',
  'services/query/history/chart-history.ts': 'shown: the window, by the clock of the host',
  'services/query/history/insight-history.ts': 'shown: the window, by the clock of the host',
  'services/query/history/progress.ts': 'stored by another process: when a host was recorded',
  'services/query/history/table-history.ts': 'shown: the window, by the clock of the host',
  'services/query/pages/chart.ts': 'shown: the window, by the clock of the host',
  'services/query/status/probe.ts': 'the clock of a host compared with ours',
  'services/report/handlers.ts': 'stored: insights and reports older than some days',
  'services/report/insights/handlers.ts': 'stored: insights of the last hours',
  'services/report/reports/handlers.ts': 'chosen by a person: the period of a report',
  'k8s/dev/model-gateway.ts': 'shown: when an answer was made',
  'web/src/lib/agent/conversations.ts': 'stored: when a conversation was updated',
  'web/src/lib/analytics/report-page-view.ts': 'sent: the instant that the script of the provider expects',
  'web/src/lib/api/browser-connections.ts': 'from another machine: the end of a session',
  'web/src/lib/api/deployments.ts': 'shown: the window of a chart',
  'web/src/lib/api/queries.ts': 'shown: when an answer came',
  'web/src/lib/chart/legend.svelte': 'shown: the window of a chart',
  'web/src/lib/state/clock.svelte.ts': 'shown: ages beside instants',
  'web/src/lib/state/view.svelte.ts': 'shown: the window of a chart',
  'web/src/lib/ui/time-range.svelte': 'shown: the window of a chart',
  'web/src/routes/console/runs.svelte.ts': 'stored: when a statement was run',
  'web/src/routes/dashboards/[id]/time-values.ts': 'shown: the time range of a panel',
  'web/src/routes/reports/+page.svelte': 'chosen by a person: the period of a report',
}
