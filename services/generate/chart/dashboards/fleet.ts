import { type Dashboard, formatSelector, formatQuantile, formatRate, formatCounterShare } from './panel.ts'

const statements = 'watchhouse_query_statement_duration_seconds'
const ofHosts = 'host=~"$host"'
const up = `max by (host) (${formatSelector('watchhouse_host_up', ofHosts)})`

export const fleetDashboard: Dashboard = {
  title: 'Watchhouse: fleet',
  variables: [{ name: 'host', metric: 'watchhouse_host_up' }],
  sections: [
    {
      title: 'Hosts',
      panels: [
        { title: 'Hosts up', kind: 'stat', queries: [[`sum(${up})`, 'up']] },
        {
          title: 'Hosts down',
          kind: 'stat',
          queries: [[`count(${up}) - sum(${up})`, 'down']],
          limits: { act: 1 },
        },
        { title: 'Down by host', queries: [[`1 - (${up} == 0)`, '{{host}}']] },
      ],
    },
    {
      title: 'Statements',
      panels: [
        {
          title: 'Statements',
          unit: 'reqps',
          queries: [[formatRate('host', `${statements}_count`, ofHosts), '{{host}}']],
        },
        {
          title: 'Failed statements',
          unit: 'reqps',
          queries: [
            [formatRate('host, outcome', `${statements}_count`, ofHosts, 'outcome!="ok"'), '{{host}} {{outcome}}'],
          ],
        },
        {
          title: 'Statement duration, p95',
          unit: 's',
          queries: [[formatQuantile(0.95, 'host', statements, ofHosts), '{{host}}']],
          limits: { look: 5, act: 30 },
        },
        {
          title: 'Running statements',
          queries: [[`sum by (host) (${formatSelector('watchhouse_query_statements_running', ofHosts)})`, '{{host}}']],
        },
        {
          title: 'Queued statements',
          queries: [[`sum by (host) (${formatSelector('watchhouse_query_statements_waiting', ofHosts)})`, '{{host}}']],
          limits: { look: 5, act: 25 },
        },
        {
          title: 'Cache hit ratio',
          unit: 'percentunit',
          queries: [[formatCounterShare('watchhouse_query_answers_total', 'source!="host"'), 'cached or shared']],
        },
      ],
    },
    {
      title: 'Monitoring cost',
      panels: [
        {
          title: 'Bytes read',
          unit: 'Bps',
          queries: [[formatRate('host', 'watchhouse_query_read_bytes_total', ofHosts), '{{host}}']],
        },
        {
          title: 'Rows read per second',
          queries: [[formatRate('host', 'watchhouse_query_read_rows_total', ofHosts), '{{host}}']],
        },
      ],
    },
    {
      title: 'History',
      panels: [
        {
          title: 'Recorder delay',
          unit: 's',
          queries: [[`max by (host) (${formatSelector('watchhouse_history_behind_seconds', ofHosts)})`, '{{host}}']],
        },
        {
          title: 'Recorded rows per second',
          queries: [[`sum(rate(${formatSelector('watchhouse_history_rows_total')}[$__rate_interval]))`, 'Rows']],
        },
      ],
    },
  ],
}
