import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { type Adapter, type Draft, type Headers, type Sent, isSent, requireSound } from './adapter.ts'
import { firstOf, instant, understood } from './fields.ts'
import { genericDraft } from './generic.ts'

const required = z.string().min(1)
/** What CloudEvents 1.0 demands of an event, and what of the rest is read. */
const Context = z.looseObject({
  specversion: z.string().regex(/^1\./, 'must be 1.0'),
  id: required,
  source: required,
  type: required,
  subject: z.string().nullish(),
  time: instant,
  data: z.unknown().optional(),
  data_base64: z.base64().nullish(),
})

/** CloudEvents in structured mode: the event is an object with everything in it, whatever its content type. */
export const cloudEvents: Adapter = {
  id: 'cloudevents',
  recognises: ({ specversion, id, source, type }, headers) =>
    isCloudEvents(headers) || [specversion, id, source, type].every((field) => field !== undefined),
  read: (sent) => [draftOf(sent)],
}

/** CloudEvents in binary mode: header fields say everything but the data, which is the body and reaches us as `data`. */
export const binaryCloudEvents: Adapter = {
  id: 'cloudevents',
  recognises: (_sent, headers) => isBinaryCloudEvent(headers),
  read: ({ data }, headers) => {
    if (headers['ce-datacontenttype'] !== undefined)
      throw new ServiceError('invalid', 'ce-datacontenttype must not be sent: Content-Type says it')
    return [draftOf({ ...contextIn(headers), data })]
  },
}

/** Whether header fields say what the event is, so that the body is its data alone. */
export const isBinaryCloudEvent = (headers: Headers): boolean => headers['ce-specversion'] !== undefined

const isCloudEvents = (headers: Headers): boolean =>
  (headers['content-type'] ?? '').toLowerCase().startsWith('application/cloudevents')

const draftOf = (sent: Sent): Draft => {
  const { id, source, type, subject, time, data, data_base64: encoded } = understood(Context, sent)
  const bytes = decoded(encoded)
  const content = isSent(data) ? data : (bytes ?? {})
  const generic = genericDraft({ ...content, type })
  return {
    ...generic,
    source,
    externalId: id,
    identity: [source, id],
    dedupKey: firstOf(generic.dedupKey, subject, id),
    resource: firstOf(generic.resource, subject),
    title: firstOf(titleIn(content), type),
    body: firstOf(generic.body, typeof data === 'string' ? data : null),
    labels: { type, ...(subject && { subject }), ...generic.labels },
    occurredAt: time ?? generic.occurredAt,
    // As it can be read, so that what came from us is known in it.
    raw: bytes ? { ...sent, data_base64: undefined, data: bytes } : sent,
  }
}

const titleIn = (content: Sent): string => genericDraft(content).title

/** Data that was sent as bytes, where they are JSON. */
const decoded = (encoded: string | null | undefined): Sent | undefined => {
  try {
    const value: unknown = JSON.parse(Buffer.from(encoded ?? '', 'base64').toString())
    requireSound(value)
    return isSent(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Values are percent-encoded, and may be quoted. */
const contextIn = (headers: Headers): Sent =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (name.startsWith('ce-') ? [[name.slice(3), plain(value)]] : [])),
  )

const plain = (value: string): string => {
  const unquoted = /^"(?<inner>.*)"$/s.exec(value)?.groups?.inner?.replace(/\\(.)/gs, '$1') ?? value
  try {
    return decodeURIComponent(unquoted)
  } catch {
    return unquoted
  }
}
