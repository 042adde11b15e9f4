import { type Dashboard, formatSelector, formatQuantile, formatRate, formatCounterShare } from './panel.ts'

const http = 'watchhouse_http_request_duration_seconds'
const bus = 'watchhouse_bus_request_duration_seconds'
const ofServices = 'service=~"$service"'

export const healthDashboard: Dashboard = {
  title: 'Watchhouse: own health',
  variables: [{ name: 'service', metric: `${bus}_count` }],
  sections: [
    {
      title: 'HTTP requests',
      panels: [
        {
          title: 'Processes',
          kind: 'stat',
          queries: [[`count by (version) (${formatSelector('watchhouse_build_info')})`, '{{version}}']],
        },
        { title: 'Requests', unit: 'reqps', queries: [[formatRate('route', `${http}_count`), '{{route}}']] },
        {
          title: 'Requests in flight and waiting',
          queries: [
            [`sum(${formatSelector('watchhouse_http_in_flight')})`, 'in flight'],
            [`sum(${formatSelector('watchhouse_http_waiting')})`, 'waiting'],
          ],
        },
        {
          title: 'Requests rejected for overload',
          unit: 'reqps',
          queries: [[formatRate('pod', 'watchhouse_http_refused_total'), '{{pod}}']],
        },
        {
          title: 'Request error ratio',
          unit: 'percentunit',
          queries: [[formatCounterShare(`${http}_count`, 'status=~"5.."'), 'failed']],
          limits: { look: 0.01, act: 0.05 },
        },
        {
          title: 'Failed requests',
          unit: 'reqps',
          queries: [[formatRate('route, status', `${http}_count`, 'status=~"5.."'), '{{status}} {{route}}']],
        },
        {
          title: 'Request duration, p95',
          unit: 's',
          queries: [[formatQuantile(0.95, 'route', http), '{{route}}']],
          limits: { look: 1, act: 5 },
        },
      ],
    },
    {
      title: 'Requests between services',
      panels: [
        {
          title: 'Requests',
          unit: 'reqps',
          queries: [[formatRate('service, method', `${bus}_count`, ofServices), '{{service}}.{{method}}']],
        },
        {
          title: 'Failed requests',
          unit: 'reqps',
          queries: [
            [formatRate('service, outcome', `${bus}_count`, ofServices, 'outcome!="ok"'), '{{service}} {{outcome}}'],
          ],
        },
        {
          title: 'Request duration, p95',
          unit: 's',
          queries: [[formatQuantile(0.95, 'service', bus, ofServices), '{{service}}']],
        },
        {
          title: 'Requests in flight',
          queries: [[`sum by (service) (${formatSelector('watchhouse_bus_in_flight', ofServices)})`, '{{service}}']],
        },
      ],
    },
    {
      title: 'Agent and tools',
      panels: [
        {
          title: 'Agent runs',
          unit: 'reqps',
          queries: [[formatRate('outcome', 'watchhouse_agent_answers_total'), '{{outcome}}']],
        },
        {
          title: 'Run duration, p95',
          unit: 's',
          queries: [[formatQuantile(0.95, 'outcome', 'watchhouse_agent_answer_seconds'), '{{outcome}}']],
        },
        { title: 'Runs in progress', queries: [[`sum(${formatSelector('watchhouse_agent_runs')})`, 'runs']] },
        {
          title: 'Tokens per second',
          queries: [[formatRate('direction, provider', 'watchhouse_agent_tokens_total'), '{{provider}} {{direction}}']],
        },
        {
          title: 'Tool calls',
          unit: 'reqps',
          queries: [[formatRate('tool, outcome', 'watchhouse_mcp_tool_calls_total'), '{{tool}} {{outcome}}']],
        },
      ],
    },
    {
      title: 'Processes',
      panels: [
        {
          title: 'Failing readiness conditions',
          queries: [[`sum by (condition) (${formatSelector('watchhouse_readiness_problem')}) > 0`, '{{condition}}']],
        },
        {
          title: 'Memory',
          unit: 'bytes',
          queries: [[formatSelector('watchhouse_process_resident_memory_bytes'), '{{pod}}']],
        },
        {
          title: 'CPU',
          unit: 'percentunit',
          queries: [[`rate(${formatSelector('watchhouse_process_cpu_seconds_total')}[$__rate_interval])`, '{{pod}}']],
          limits: { look: 0.7, act: 0.9 },
        },
        {
          title: 'Event loop delay, p99',
          unit: 's',
          queries: [[formatSelector('watchhouse_nodejs_eventloop_lag_p99_seconds'), '{{pod}}']],
          limits: { look: 0.1, act: 0.5 },
        },
        {
          title: 'Spans',
          unit: 'reqps',
          queries: [[formatRate('outcome', 'watchhouse_trace_spans_total'), '{{outcome}}']],
        },
      ],
    },
  ],
}
