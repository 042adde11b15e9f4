import { type Dashboard, formatSelector, formatQuantile, formatRate } from './panel.ts'

const sending = 'watchhouse_alert_send_duration_seconds'
const ofChannels = 'channel=~"$channel"'

export const alertsDashboard: Dashboard = {
  title: 'Watchhouse: alerts',
  variables: [{ name: 'channel', metric: `${sending}_count` }],
  sections: [
    {
      title: 'Sweeps',
      panels: [
        {
          title: 'Firing conditions',
          kind: 'stat',
          queries: [[`max(${formatSelector('watchhouse_alert_conditions_firing')})`, 'conditions']],
          limits: { act: 1 },
        },
        {
          title: 'Rules without data',
          kind: 'stat',
          queries: [[`max(${formatSelector('watchhouse_alert_rules_unknown')})`, 'rules']],
          limits: { act: 1 },
        },
        {
          title: 'Time since the last successful sweep',
          unit: 's',
          queries: [
            [`time() - max(${formatSelector('watchhouse_alert_sweep_succeeded_timestamp_seconds')})`, 'age'],
            [`max(${formatSelector('watchhouse_alert_sweep_interval_seconds')})`, 'interval'],
          ],
        },
        {
          title: 'Sweep duration, p95',
          unit: 's',
          queries: [[formatQuantile(0.95, 'outcome', 'watchhouse_alert_sweep_duration_seconds'), '{{outcome}}']],
        },
      ],
    },
    {
      title: 'Notifications',
      panels: [
        {
          title: 'Notifications',
          unit: 'reqps',
          queries: [[formatRate('kind', 'watchhouse_alert_notices_total'), '{{kind}}']],
        },
        {
          title: 'Suppressed notifications',
          unit: 'reqps',
          queries: [[formatRate('reason', 'watchhouse_alert_notices_suppressed_total'), '{{reason}}']],
        },
        {
          title: 'Sends',
          unit: 'reqps',
          queries: [[formatRate('channel, outcome', `${sending}_count`, ofChannels), '{{channel}} {{outcome}}']],
        },
        {
          title: 'Send duration, p95',
          unit: 's',
          queries: [[formatQuantile(0.95, 'channel', sending, ofChannels), '{{channel}}']],
          limits: { look: 5, act: 10 },
        },
      ],
    },
    {
      title: 'Queue',
      panels: [
        {
          title: 'Pending messages',
          queries: [[`max by (consumer) (${formatSelector('watchhouse_queue_messages')})`, '{{consumer}}']],
          limits: { look: 100, act: 1000 },
        },
        {
          title: 'Message age at delivery, p90',
          unit: 's',
          queries: [[formatQuantile(0.9, 'consumer', 'watchhouse_queue_wait_seconds'), '{{consumer}}']],
          limits: { look: 5, act: 30 },
        },
        {
          title: 'Inbound events',
          unit: 'reqps',
          queries: [[formatRate('adapter, outcome', 'watchhouse_ingest_events_total'), '{{adapter}} {{outcome}}']],
        },
        {
          title: 'Published events',
          unit: 'reqps',
          queries: [[formatRate('outcome', 'watchhouse_ingest_reemitted_total'), '{{outcome}}']],
        },
      ],
    },
  ],
}
