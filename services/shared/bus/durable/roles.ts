import type { ServiceName } from '#proto/call.ts'
import { type AnyStream, deadSubject, streamNames, streams } from './streams.ts'

interface Role {
  publishes: readonly AnyStream[]
  consumes: readonly AnyStream[]
}

/** Which services use the queue, and for what; the others have no part in it. */
const roles: Partial<Record<ServiceName, Role>> = {
  ingest: { publishes: ['EVENTS'], consumes: ['EVENTS'] },
  'alert-dispatcher': { publishes: ['DELIVER'], consumes: ['EVENTS', 'DELIVER'] },
}

/** Subjects of NATS that a service publishes to for its part in the queue; answers come to its own inbox. */
export const queueSubjects = (service: ServiceName): readonly string[] => {
  const role = roles[service]
  if (role === undefined) return []
  const kept = role.publishes.flatMap((name) => streams[name].subjects)
  const buried = role.consumes.flatMap((name) => streams[name].subjects.map(deadSubject))
  return [
    '$JS.API.INFO',
    ...streamNames.flatMap(streamRequests),
    ...role.consumes.flatMap(consumerRequests),
    ...deadRequests,
    ...kept,
    ...buried,
  ]
}

/** Whoever comes first makes the streams. */
const streamRequests = (name: AnyStream): string[] =>
  ['CREATE', 'UPDATE', 'INFO'].map((request) => `$JS.API.STREAM.${request}.${name}`)

const consumerRequests = (name: AnyStream): string[] => [
  ...['CREATE', 'DURABLE.CREATE', 'INFO', 'MSG.NEXT'].map((request) => `$JS.API.CONSUMER.${request}.${name}.>`),
  `$JS.ACK.${name}.>`,
]

const deadRequests = ['GET', 'DELETE'].map((request) => `$JS.API.STREAM.MSG.${request}.DLQ`)
