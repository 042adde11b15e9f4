/** One panel: what it shows, in which unit, by which queries and their legends. */
interface Panel {
  title: string
  unit?: 's' | 'reqps' | 'Bps' | 'short' | 'percentunit'
  kind?: 'timeseries' | 'stat'
  queries: readonly (readonly [expression: string, legend: string])[]
}

const rate = (metric: string, by: string, filter = ''): string =>
  `sum by (${by}) (rate(${metric}${filter}[$__rate_interval]))`
const quantile = (share: number, metric: string, by: string): string =>
  `histogram_quantile(${share}, sum by (${by}, le) (rate(${metric}_bucket[$__rate_interval])))`

/** The dashboards by the name of their file. */
const dashboards: Readonly<Record<string, { title: string; panels: readonly Panel[] }>> = {
  health: {
    title: 'Watchhouse: own health',
    panels: [
      { title: 'Processes', kind: 'stat', queries: [['count by (version) (watchhouse_build_info)', '{{version}}']] },
      {
        title: 'Requests',
        unit: 'reqps',
        queries: [[rate('watchhouse_http_request_duration_seconds_count', 'route'), '{{route}}']],
      },
      {
        title: 'Requests that fail',
        unit: 'reqps',
        queries: [
          [
            rate('watchhouse_http_request_duration_seconds_count', 'route, status', '{status=~"5.."}'),
            '{{status}} {{route}}',
          ],
        ],
      },
      {
        title: 'Duration of requests, 95 %',
        unit: 's',
        queries: [[quantile(0.95, 'watchhouse_http_request_duration_seconds', 'route'), '{{route}}']],
      },
      { title: 'Requests being answered', unit: 'short', queries: [['sum(watchhouse_http_in_flight)', 'requests']] },
      {
        title: 'Questions on the bus',
        unit: 'reqps',
        queries: [[rate('watchhouse_bus_request_duration_seconds_count', 'service, method'), '{{service}}.{{method}}']],
      },
      {
        title: 'Questions that fail',
        unit: 'reqps',
        queries: [
          [
            rate('watchhouse_bus_request_duration_seconds_count', 'service, outcome', '{outcome!="ok"}'),
            '{{service}} {{outcome}}',
          ],
        ],
      },
      {
        title: 'Duration of questions, 95 %',
        unit: 's',
        queries: [[quantile(0.95, 'watchhouse_bus_request_duration_seconds', 'service'), '{{service}}']],
      },
      {
        title: 'Questions being answered',
        unit: 'short',
        queries: [['sum by (service) (watchhouse_bus_in_flight)', '{{service}}']],
      },
      {
        title: 'Answers of the agent',
        unit: 'reqps',
        queries: [[rate('watchhouse_agent_answers_total', 'outcome'), '{{outcome}}']],
      },
      {
        title: 'Duration of answers, 95 %',
        unit: 's',
        queries: [[quantile(0.95, 'watchhouse_agent_answer_seconds', 'outcome'), '{{outcome}}']],
      },
      {
        title: 'Calls of tools',
        unit: 'reqps',
        queries: [[rate('watchhouse_mcp_tool_calls_total', 'tool, outcome'), '{{tool}} {{outcome}}']],
      },
      {
        title: 'Tokens',
        unit: 'short',
        queries: [[rate('watchhouse_agent_tokens_total', 'direction'), '{{direction}}']],
      },
      { title: 'Answers of the agent in the making', unit: 'short', queries: [['sum(watchhouse_agent_runs)', 'runs']] },
      { title: 'Memory', unit: 'short', queries: [['watchhouse_process_resident_memory_bytes', '{{pod}}']] },
      {
        title: 'Processor',
        unit: 'percentunit',
        queries: [['rate(watchhouse_process_cpu_seconds_total[$__rate_interval])', '{{pod}}']],
      },
      {
        title: 'Delay of the event loop, 99 %',
        unit: 's',
        queries: [['watchhouse_nodejs_eventloop_lag_p99_seconds', '{{pod}}']],
      },
      { title: 'Spans', unit: 'reqps', queries: [[rate('watchhouse_trace_spans_total', 'outcome'), '{{outcome}}']] },
    ],
  },
  fleet: {
    title: 'Watchhouse: fleet',
    panels: [
      {
        title: 'Hosts up',
        kind: 'stat',
        queries: [
          ['sum(max by (host) (watchhouse_host_up))', 'up'],
          ['count(max by (host) (watchhouse_host_up))', 'all'],
        ],
      },
      { title: 'Hosts down', queries: [['max by (host) (watchhouse_host_up) == 0', '{{host}}']] },
      {
        title: 'Statements',
        unit: 'reqps',
        queries: [[rate('watchhouse_query_statement_duration_seconds_count', 'host'), '{{host}}']],
      },
      {
        title: 'Statements that fail',
        unit: 'reqps',
        queries: [
          [
            rate('watchhouse_query_statement_duration_seconds_count', 'host, outcome', '{outcome!="ok"}'),
            '{{host}} {{outcome}}',
          ],
        ],
      },
      {
        title: 'Duration of statements, 95 %',
        unit: 's',
        queries: [[quantile(0.95, 'watchhouse_query_statement_duration_seconds', 'host'), '{{host}}']],
      },
      {
        title: 'Statements that run and wait',
        unit: 'short',
        queries: [
          ['sum by (host) (watchhouse_query_statements_running)', '{{host}} runs'],
          ['sum by (host) (watchhouse_query_statements_waiting)', '{{host}} waits'],
        ],
      },
      {
        title: 'Where answers come from',
        unit: 'reqps',
        queries: [[rate('watchhouse_query_answers_total', 'source'), '{{source}}']],
      },
      {
        title: 'What watching costs: bytes read',
        unit: 'Bps',
        queries: [[rate('watchhouse_query_read_bytes_total', 'host'), '{{host}}']],
      },
      {
        title: 'What watching costs: rows read',
        unit: 'short',
        queries: [[rate('watchhouse_query_read_rows_total', 'host'), '{{host}}']],
      },
    ],
  },
  alerts: {
    title: 'Watchhouse: alerts',
    panels: [
      {
        title: 'Conditions that fire',
        kind: 'stat',
        queries: [['max(watchhouse_alert_conditions_firing)', 'conditions']],
      },
      { title: 'Rules nobody could judge', kind: 'stat', queries: [['max(watchhouse_alert_rules_unknown)', 'rules']] },
      {
        title: 'Duration of sweeps',
        unit: 's',
        queries: [[quantile(0.95, 'watchhouse_alert_sweep_duration_seconds', 'outcome'), '{{outcome}}']],
      },
      { title: 'Notices', unit: 'reqps', queries: [[rate('watchhouse_alert_notices_total', 'kind'), '{{kind}}']] },
      {
        title: 'Notices held back',
        unit: 'reqps',
        queries: [[rate('watchhouse_alert_notices_suppressed_total', 'reason'), '{{reason}}']],
      },
      {
        title: 'Sendings',
        unit: 'reqps',
        queries: [
          [rate('watchhouse_alert_send_duration_seconds_count', 'channel, outcome'), '{{channel}} {{outcome}}'],
        ],
      },
      {
        title: 'Duration of sendings, 95 %',
        unit: 's',
        queries: [[quantile(0.95, 'watchhouse_alert_send_duration_seconds', 'channel'), '{{channel}}']],
      },
      {
        title: 'Messages that wait',
        unit: 'short',
        queries: [['max by (consumer) (watchhouse_queue_messages)', '{{consumer}}']],
      },
      {
        title: 'Age of messages when taken, 90 %',
        unit: 's',
        queries: [[quantile(0.9, 'watchhouse_queue_wait_seconds', 'consumer'), '{{consumer}}']],
      },
      {
        title: 'Inbound events',
        unit: 'reqps',
        queries: [[rate('watchhouse_ingest_events_total', 'adapter, outcome'), '{{adapter}} {{outcome}}']],
      },
      {
        title: 'Events handed on',
        unit: 'reqps',
        queries: [[rate('watchhouse_ingest_reemitted_total', 'outcome'), '{{outcome}}']],
      },
    ],
  },
}

const wide = 8
const high = 8
const perRow = 3
const datasource = { type: 'prometheus', uid: '${datasource}' }

/** Every dashboard as Grafana reads it, by the name of its file. */
export const grafanaDashboards = (): Record<string, object> =>
  Object.fromEntries(
    Object.entries(dashboards).map(([name, { title, panels }]) => [name, dashboardOf(name, title, panels)]),
  )

const dashboardOf = (name: string, title: string, panels: readonly Panel[]): object => ({
  uid: `watchhouse-${name}`,
  title,
  tags: ['watchhouse'],
  schemaVersion: 41,
  refresh: '30s',
  time: { from: 'now-6h', to: 'now' },
  templating: { list: [{ name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Prometheus' }] },
  panels: panels.map((panel, index) => panelOf(panel, index)),
})

const panelOf = ({ title, unit = 'short', kind = 'timeseries', queries }: Panel, index: number): object => ({
  id: index + 1,
  type: kind,
  title,
  datasource,
  gridPos: { x: (index % perRow) * wide, y: Math.floor(index / perRow) * high, w: wide, h: high },
  fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
  targets: queries.map(([expr, legendFormat], target) => ({
    refId: String.fromCodePoint(65 + target),
    expr,
    legendFormat,
    datasource,
  })),
})
