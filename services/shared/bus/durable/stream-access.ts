import type { ServiceName } from '#proto/call.ts'
import { inboundSubjectPattern } from '#proto/inbound-event.ts'
import type { StreamName } from './queue.ts'
import {
  type AnyStreamName,
  deadLetterStreams,
  formatDeadLetterSubject,
  streamNames,
  streamConfigs,
} from './streams.ts'

/** A consumer of the product; only its service takes messages from it. */
export interface ConsumerPlan {
  service: ServiceName
  stream: StreamName
  name: string
  subjects: string
}

/** The consumers of all services. */
export const consumerPlans: readonly ConsumerPlan[] = [
  { service: 'ingest', stream: 'EVENTS', name: 'events-kept', subjects: inboundSubjectPattern },
  { service: 'ingest', stream: 'EVENTS', name: 'events-reemitted', subjects: inboundSubjectPattern },
  { service: 'alert-dispatcher', stream: 'EVENTS', name: 'events-alerted', subjects: inboundSubjectPattern },
]

/** The stream that each service publishes to. The service also lists, resends and removes its dead letters. */
const publishers: Partial<Record<ServiceName, StreamName>> = { ingest: 'EVENTS' }

/** The service that creates streams and consumers when NATS_STREAMS_URL is set. */
export const installerService = 'gateway' satisfies ServiceName

/** Services that use streams, each with its own NATS user. */
export const streamServices: readonly ServiceName[] = [installerService, 'ingest', 'alert-dispatcher']

/** A subject of JetStream that a service may publish to. */
export interface StreamAccess {
  subject: string
  /** Whether a request gets several response messages. */
  isStreamed?: boolean
}

/** Returns the JetStream subjects that a service publishes to, one for each API call in its code. */
export const listStreamAccess = (service: ServiceName): readonly StreamAccess[] => {
  if (!streamServices.includes(service)) return []
  const own = service === installerService ? listInstallerAccess() : listConsumerAccess(service)
  return [{ subject: '$JS.API.INFO' }, ...own]
}

const listInstallerAccess = (): StreamAccess[] => [
  ...streamNames.flatMap((name) =>
    ['CREATE', 'UPDATE', 'INFO'].map((call) => ({ subject: `$JS.API.STREAM.${call}.${name}` })),
  ),
  ...consumerPlans.map(({ stream, name, subjects }) => ({
    subject: `$JS.API.CONSUMER.CREATE.${stream}.${name}.${subjects}`,
  })),
]

const listConsumerAccess = (service: ServiceName): StreamAccess[] => {
  const published = publishers[service]
  const own = consumerPlans.filter((consumer) => consumer.service === service)
  const buried = new Set(own.flatMap(({ stream }) => streamConfigs[stream].subjects.map(formatDeadLetterSubject)))
  return [
    ...(published === undefined
      ? []
      : [...listPublishAccess(published), ...listDeadLetterAccess(deadLetterStreams[published])]),
    ...[...buried].map((subject) => ({ subject })),
    ...own.flatMap(({ stream, name }) => [
      { subject: `$JS.API.CONSUMER.INFO.${stream}.${name}` },
      { subject: `$JS.API.CONSUMER.MSG.NEXT.${stream}.${name}`, isStreamed: true },
      { subject: `$JS.ACK.${stream}.${name}.>` },
    ]),
  ]
}

const listPublishAccess = (stream: AnyStreamName): StreamAccess[] =>
  streamConfigs[stream].subjects.map((subject) => ({ subject }))

const listDeadLetterAccess = (stream: AnyStreamName): StreamAccess[] =>
  ['STREAM.INFO', 'STREAM.MSG.GET', 'STREAM.MSG.DELETE'].map((call) => ({ subject: `$JS.API.${call}.${stream}` }))
