import { z } from 'zod'
import { HostIdText } from '../call-tool.ts'

/** A task that a user can select, with the text that a model receives. */
export interface Prompt {
  name: string
  title: string
  description: string
  arguments: z.ZodObject
  text(given: unknown): string
}

const host = { hostId: HostIdText }
const hours = z
  .string()
  .regex(/^([1-9]|[1-9]\d|[1-6]\d\d|7[01]\d|720)$/, 'must be a whole number from 1 to 720')
  .default('24')
  .describe('How many hours to look back')
const database = z.string().min(1).max(256).optional().describe('Only this database')

const prompt = <A extends z.ZodObject>(
  traits: Omit<Prompt, 'arguments' | 'text'> & { arguments: A; text(given: z.output<A>): string },
): Prompt => ({ ...traits, text: (given) => traits.text(traits.arguments.parse(given)) })

const closing =
  'Verify each claim with a result before you state it. End with what to do first, and say what you could not find out.'

/** All prompts, in the order of the list. */
export const prompts: readonly Prompt[] = [
  prompt({
    name: 'health-check',
    title: 'Health check',
    description: 'Checks the health of a host and finds the causes of problems',
    arguments: z.object(host),
    text: ({ hostId }) =>
      `Check the health of the ClickHouse host with hostId ${hostId}. Begin with analyze_performance and get_metrics. For everything that is not ok, find the cause with get_running_queries, get_merge_status, get_slow_queries or query. ${closing}`,
  }),
  prompt({
    name: 'slow-query-analysis',
    title: 'Slow queries',
    description: 'Finds slow queries, their causes and possible improvements',
    arguments: z.object({ ...host, hours }),
    text: ({ hostId, hours: lastHours }) =>
      `Analyze the slow queries of the last ${lastHours} hours on the ClickHouse host with hostId ${hostId}. Begin with get_slow_queries (lastHours: ${lastHours}) and group the results by fingerprint. Read the schema of the tables involved with explore_table_schema and compare the rows read with the sorting key. Explain for the three worst patterns what makes them slow and which change would help. ${closing}`,
  }),
  prompt({
    name: 'storage-audit',
    title: 'Storage audit',
    description: 'Finds what uses disk space and what can be deleted',
    arguments: z.object({ ...host, database }),
    text: ({ hostId, database: only }) =>
      `Audit the storage of ${only === undefined ? 'all databases' : `the database ${JSON.stringify(only)}`} on the ClickHouse host with hostId ${hostId}. Use list_databases and list_tables for sizes, and query on system.parts, system.parts_columns, system.detached_parts and system.disks for compression, parts per partition, detached parts and free space. ${closing}`,
  }),
  prompt({
    name: 'replication-check',
    title: 'Replication check',
    description: 'Checks replicas for lag, queues and read-only state',
    arguments: z.object(host),
    text: ({ hostId }) =>
      `Check the replication of the ClickHouse host with hostId ${hostId}. Use query on system.replicas for read-only replicas, delays and queues, on system.replication_queue for entries that fail repeatedly, and on system.zookeeper_connection for the coordination service. If nothing there is replicated, say so. ${closing}`,
  }),
  prompt({
    name: 'capacity-report',
    title: 'Capacity report',
    description: 'Forecasts how long disks and memory will last',
    arguments: z.object({ ...host, hours }),
    text: ({ hostId, hours: lastHours }) =>
      `Report on the capacity of the ClickHouse host with hostId ${hostId}. Use get_metrics for memory, and query on system.disks for free space, on system.part_log for the bytes written in the last ${lastHours} hours and on system.asynchronous_metric_log for the trend. State how long disks and memory will last at that rate, and how certain that is. ${closing}`,
  }),
]
