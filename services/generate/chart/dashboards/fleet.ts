import { type Dashboard, selectSeries, quantile, rate, shareOfCounter } from './panel.ts'

const statements = 'watchhouse_query_statement_duration_seconds'
const ofHosts = 'host=~"$host"'
const up = `max by (host) (${selectSeries('watchhouse_host_up', ofHosts)})`

export const fleet: Dashboard = {
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
        { title: 'Statements', unit: 'reqps', queries: [[rate('host', `${statements}_count`, ofHosts), '{{host}}']] },
        {
          title: 'Failed statements',
          unit: 'reqps',
          queries: [[rate('host, outcome', `${statements}_count`, ofHosts, 'outcome!="ok"'), '{{host}} {{outcome}}']],
        },
        {
          title: 'Statement duration, p95',
          unit: 's',
          queries: [[quantile(0.95, 'host', statements, ofHosts), '{{host}}']],
          limits: { look: 5, act: 30 },
        },
        {
          title: 'Running statements',
          queries: [[`sum by (host) (${selectSeries('watchhouse_query_statements_running', ofHosts)})`, '{{host}}']],
        },
        {
          title: 'Queued statements',
          queries: [[`sum by (host) (${selectSeries('watchhouse_query_statements_waiting', ofHosts)})`, '{{host}}']],
          limits: { look: 5, act: 25 },
        },
        {
          title: 'Cache hit ratio',
          unit: 'percentunit',
          queries: [[shareOfCounter('watchhouse_query_answers_total', 'source!="host"'), 'cached or shared']],
        },
      ],
    },
    {
      title: 'Monitoring cost',
      panels: [
        {
          title: 'Bytes read',
          unit: 'Bps',
          queries: [[rate('host', 'watchhouse_query_read_bytes_total', ofHosts), '{{host}}']],
        },
        {
          title: 'Rows read per second',
          queries: [[rate('host', 'watchhouse_query_read_rows_total', ofHosts), '{{host}}']],
        },
      ],
    },
  ],
}
