import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'

/** A function that returns a metric of a registry and creates it on first use. The services of a process share it. */
export type MetricGetter<M> = (registry: Registry) => M

const defineCounter =
  <L extends string>(name: string, help: string, labelNames: readonly L[]): MetricGetter<Counter<L>> =>
  (registry) => {
    const known = registry.getSingleMetric<L>(name)
    return known instanceof Counter ? known : new Counter({ name, help, labelNames, registers: [registry] })
  }

const defineGauge =
  <L extends string>(name: string, help: string, labelNames: readonly L[]): MetricGetter<Gauge<L>> =>
  (registry) => {
    const known = registry.getSingleMetric<L>(name)
    return known instanceof Gauge ? known : new Gauge({ name, help, labelNames, registers: [registry] })
  }

/** The value of a gauge, with its labels. */
export interface GaugeReading<L extends string> {
  labels: Readonly<Record<L, string>>
  value: number
}

/**
 * Declares a gauge whose readers are called on each scrape. The services of one process share the gauge; values with
 * equal labels are added.
 */
const defineReadGauge = <L extends string>(name: string, help: string, labelNames: readonly L[]) => {
  const readers = new WeakMap<Registry, (() => readonly GaugeReading<L>[])[]>()
  return (registry: Registry, read?: () => readonly GaugeReading<L>[]): Gauge<L> => {
    const reads = readers.get(registry) ?? []
    readers.set(registry, reads)
    if (read) reads.push(read)
    const known = registry.getSingleMetric<L>(name)
    if (known instanceof Gauge) return known
    return new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset()
        for (const { labels, value } of reads.flatMap((each) => each())) this.inc(labels, value)
      },
    })
  }
}

const defineHistogram =
  <L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    buckets: number[],
  ): MetricGetter<Histogram<L>> =>
  (registry) => {
    const known = registry.getSingleMetric<L>(name)
    return known instanceof Histogram
      ? known
      : new Histogram({ name, help, labelNames, buckets, registers: [registry] })
  }

/** Histogram buckets in seconds, from a bus request in memory to a statement at its time limit. */
const durationBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** Histogram buckets in seconds for answers of the agent. */
const answerDurationBuckets = [1, 2.5, 5, 10, 20, 40, 80, 160, 320]

/**
 * All metrics of the product. Label values are bounded: route templates, methods, error codes and configured hosts.
 * They never contain paths, ids, users or statements.
 */
export const metrics = {
  buildInfo: defineGauge('watchhouse_build_info', 'Always 1; version and services of this process.', [
    'version',
    'node',
    'services',
  ]),
  readinessProblems: defineReadGauge(
    'watchhouse_readiness_problem',
    'Whether /readyz reports a problem with this condition, such as an unavailable server.',
    ['condition'],
  ),
  httpRequestDuration: defineHistogram(
    'watchhouse_http_request_duration_seconds',
    'Time from the head of a request to the end of its answer.',
    ['route', 'method', 'status'],
    durationBuckets,
  ),
  httpInFlight: defineReadGauge('watchhouse_http_in_flight', 'Requests being answered now.', []),
  httpWaiting: defineReadGauge(
    'watchhouse_http_waiting',
    'Requests that wait for a slot because the process is overloaded.',
    [],
  ),
  httpRefused: defineCounter(
    'watchhouse_http_refused_total',
    'Requests rejected without being read because the process is overloaded.',
    [],
  ),
  busRequestDuration: defineHistogram(
    'watchhouse_bus_request_duration_seconds',
    'Time a service took to answer a call; outcome is ok, an error code, or host-unavailable if a monitored host failed.',
    ['service', 'method', 'caller', 'outcome'],
    durationBuckets,
  ),
  busInFlight: defineReadGauge('watchhouse_bus_in_flight', 'Calls being answered now.', ['service']),
  hostUp: defineGauge('watchhouse_host_up', 'Whether the last probe found a host up; absent before the first.', [
    'host',
  ]),
  statementDuration: defineHistogram(
    'watchhouse_query_statement_duration_seconds',
    'Time from sending a statement to its last byte; outcome is ok or an error code.',
    ['host', 'outcome'],
    durationBuckets,
  ),
  statementsRunning: defineReadGauge('watchhouse_query_statements_running', 'Statements running on a host now.', [
    'host',
  ]),
  statementsWaiting: defineReadGauge(
    'watchhouse_query_statements_waiting',
    'Statements waiting for a slot of a host.',
    ['host'],
  ),
  answersCompleted: defineCounter(
    'watchhouse_query_answers_total',
    'Statement results; source is cache, shared (with an equal statement that was running) or host.',
    ['source'],
  ),
  rowsRead: defineCounter(
    'watchhouse_query_read_rows_total',
    'Rows that statements of Watchhouse read on a host, as reported by the host.',
    ['host'],
  ),
  bytesRead: defineCounter(
    'watchhouse_query_read_bytes_total',
    'Bytes that statements of Watchhouse read on a host, as reported by the host.',
    ['host'],
  ),
  historyBehind: defineReadGauge(
    'watchhouse_history_behind_seconds',
    'Length of the logs of a host that is not recorded in the history yet.',
    ['host'],
  ),
  historyRows: defineCounter('watchhouse_history_rows_total', 'Rows that this process recorded in the history.', []),
  queueMessages: defineGauge(
    'watchhouse_queue_messages',
    'Messages that a consumer has not acknowledged, including those in progress.',
    ['consumer'],
  ),
  queueWait: defineHistogram(
    'watchhouse_queue_wait_seconds',
    'Age of a queued message at its first delivery.',
    ['consumer'],
    durationBuckets,
  ),
  alertSendDuration: defineHistogram(
    'watchhouse_alert_send_duration_seconds',
    'Response time of a channel to a notification; outcome is ok, retry, permanent or config.',
    ['channel', 'outcome'],
    durationBuckets,
  ),
  sweepDuration: defineHistogram(
    'watchhouse_alert_sweep_duration_seconds',
    'Time a health sweep took; outcome is ok or an error code.',
    ['outcome'],
    durationBuckets,
  ),
  sweepSucceeded: defineReadGauge(
    'watchhouse_alert_sweep_succeeded_timestamp_seconds',
    'End of the last health sweep that evaluated every host, or the start of this process.',
    [],
  ),
  sweepInterval: defineReadGauge(
    'watchhouse_alert_sweep_interval_seconds',
    'Configured interval of health sweeps, five minutes if an external scheduler requests them; 0 if sweeps are disabled.',
    [],
  ),
  conditionsFiring: defineGauge(
    'watchhouse_alert_conditions_firing',
    'Firing conditions of all hosts and of inbound events.',
    [],
  ),
  rulesUnknown: defineGauge(
    'watchhouse_alert_rules_unknown',
    'Rules that the last sweep could not evaluate, over all hosts.',
    [],
  ),
  notificationsDispatched: defineCounter('watchhouse_alert_notices_total', 'Notifications passed to channels.', [
    'kind',
  ]),
  notificationsSuppressed: defineCounter(
    'watchhouse_alert_notices_suppressed_total',
    'Notifications that were due and not sent, counted once per reason.',
    ['reason'],
  ),
  eventsReceived: defineCounter(
    'watchhouse_ingest_events_total',
    'Inbound events by the adapter that read them; outcome is kept, duplicate or refused.',
    ['adapter', 'outcome'],
  ),
  eventsReemitted: defineCounter(
    'watchhouse_ingest_reemitted_total',
    'Inbound events forwarded to the configured webhook; outcome is sent, skipped or failed.',
    ['outcome'],
  ),
  toolCalls: defineCounter('watchhouse_mcp_tool_calls_total', 'Calls of tools by their outcome.', ['tool', 'outcome']),
  agentAnswers: defineCounter(
    'watchhouse_agent_answers_total',
    'Answers of the agent; outcome is answered, stopped, or the error code of a failure.',
    ['outcome', 'provider'],
  ),
  agentTokens: defineCounter('watchhouse_agent_tokens_total', 'Tokens used by answers of the agent, by direction.', [
    'direction',
    'provider',
  ]),
  agentAnswerDuration: defineHistogram(
    'watchhouse_agent_answer_seconds',
    'Duration of answers of the agent, including waits for approvals.',
    ['outcome'],
    answerDurationBuckets,
  ),
  agentRuns: defineReadGauge('watchhouse_agent_runs', 'Answers of the agent in progress.', []),
  spansExported: defineCounter(
    'watchhouse_trace_spans_total',
    'Spans passed to the exporter; outcome is sent or lost.',
    ['outcome'],
  ),
} as const

const prefix = 'watchhouse_'
/**
 * Gauges of the default metrics whose names end like those of counters. Each is the sum of a gauge with the label
 * `type`, so none is missing.
 */
const misnamedGauges = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

/** Creates the registry of a process, including the default metrics of Node. */
export const openMetrics = (facts: { version: string; services: readonly string[] }): Registry => {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix })
  for (const name of misnamedGauges) registry.removeSingleMetric(`${prefix}${name}`)
  metrics
    .buildInfo(registry)
    .set({ version: facts.version, node: process.version, services: facts.services.join(',') }, 1)
  return registry
}
