import { type AnyStreamName, streamConfigs } from './streams.ts'

/** Time and size limits of a queue. */
export interface QueueLimits {
  /** A message without progress reports for this long is redelivered to another process. */
  ackWaitMs: number
  /** Redelivery delay of a message whose handler threw. */
  failedAgainMs: number
  publishWithinMs: number
  /** Maximum size of a message body; leaves room for headers within the 1 MiB that NATS accepts by default. */
  bodyBytes: number
  /**
   * Maximum messages of one consumer in progress or waiting for redelivery, over all processes. At the limit, the
   * consumer receives no further messages.
   */
  maxPending: number
  maxInFlight: number
  tries: number
  /** How long a pull request stays open. A restarted server gets a new request within this time. */
  pullMs: number
  retryMs: number
  duplicateWindowMs: Readonly<Record<AnyStreamName, number>>
  maxBytes: Readonly<Record<AnyStreamName, number>>
}

/** The default limits; tests shorten the times. */
export const defaultQueueLimits: QueueLimits = {
  ackWaitMs: 30_000,
  failedAgainMs: 5_000,
  publishWithinMs: 5_000,
  bodyBytes: 768 * 1024,
  maxPending: 20_000,
  maxInFlight: 256,
  tries: 20,
  pullMs: 2_000,
  retryMs: 500,
  duplicateWindowMs: eachStream(({ duplicateWindowMs }) => duplicateWindowMs),
  maxBytes: eachStream(({ maxBytes }) => maxBytes),
}

function eachStream(
  valueOf: (config: (typeof streamConfigs)[AnyStreamName]) => number,
): Readonly<Record<AnyStreamName, number>> {
  return {
    EVENTS: valueOf(streamConfigs.EVENTS),
    EVENTS_DLQ: valueOf(streamConfigs.EVENTS_DLQ),
  }
}
