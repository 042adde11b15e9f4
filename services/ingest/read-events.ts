import { ServiceError } from '#proto/errors.ts'
import { mostEvents } from '#proto/ingest.ts'
import { type Draft, type Headers, isSent, requireSound } from './adapters/adapter.ts'
import { isBinaryCloudEvent } from './adapters/cloud-events.ts'
import { adapters } from './adapters/index.ts'

/** One event of a request: what its adapter made of it, or why that could not be. */
export type Read = (Draft & { sourceType: string }) | { error: string }

/** The events in a body, in their order. Throws `invalid` for a body in which there can be none. */
export const readEvents = (body: string, headers: Headers): Read[] => {
  const isBinary = isBinaryCloudEvent(headers)
  const value = isBinary && body === '' ? null : jsonOf(body)
  requireSound(value)
  // Of such an event the body is the data, whatever that is.
  const events = isBinary ? undefined : listIn(value)
  if (events === undefined) return within(readOne(isBinary ? { data: value } : value, headers))
  if (events.length === 0) throw new ServiceError('invalid', 'the body has no event in it')
  // What header fields say is about a body that is one event.
  const others = Object.fromEntries(Object.entries(headers).filter(([name]) => !isOfOne(name)))
  return within(events.flatMap((event) => readOne(event, others)))
}

const isOfOne = (name: string): boolean => name === 'x-webhook-id' || name.startsWith('ce-')

const within = (events: Read[]): Read[] => {
  if (events.length <= mostEvents) return events
  throw new ServiceError('too-large', `a request may bring ${mostEvents} events; this one has ${events.length}`)
}

const jsonOf = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    throw new ServiceError('invalid', 'the body is not JSON')
  }
}

/** The events of a list, or of an object that has nothing but one in it. */
const listIn = (value: unknown): unknown[] | undefined => {
  if (Array.isArray(value)) return value
  if (!isSent(value) || !('events' in value)) return undefined
  if (!Array.isArray(value.events)) throw new ServiceError('invalid', 'events must be a list')
  return value.events
}

const readOne = (value: unknown, headers: Headers): Read[] => {
  if (!isSent(value)) return [{ error: 'an event must be a JSON object' }]
  const adapter = adapters.find(({ recognises }) => recognises(value, headers))
  if (!adapter) return [{ error: 'an event must be a JSON object' }]
  try {
    return adapter.read(value, headers).map((read) => ('error' in read ? read : { ...read, sourceType: adapter.id }))
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return [{ error: error.message }]
  }
}
