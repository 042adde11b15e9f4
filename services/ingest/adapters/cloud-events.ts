import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import {
  type EventAdapter,
  type EventDraft,
  type RequestHeaders,
  type JsonObject,
  isJsonObject,
  requirePlainJson,
} from './adapter.ts'
import { firstNonBlank, timestampField, parseFields } from './fields.ts'
import { parseGeneric } from './generic.ts'

const requiredTextField = z.string().min(1)
/** Required attributes of CloudEvents 1.0, and the optional ones that are used. */
const Context = z.looseObject({
  specversion: z.string().regex(/^1\./, 'must be 1.0'),
  id: requiredTextField,
  source: requiredTextField,
  type: requiredTextField,
  subject: z.string().nullish(),
  time: timestampField,
  data: z.unknown().optional(),
  data_base64: z.base64().nullish(),
})

/** CloudEvents in structured mode: one object with attributes and data, recognized with any content type. */
export const cloudEventsAdapter: EventAdapter = {
  id: 'cloudevents',
  recognizes: ({ specversion, id, source, type }, headers) =>
    isCloudEvents(headers) || [specversion, id, source, type].every((field) => field !== undefined),
  read: (sent) => [parseDraft(sent)],
}

/** CloudEvents in binary mode: headers contain the attributes, and the body is passed as `data`. */
export const binaryCloudEventsAdapter: EventAdapter = {
  id: 'cloudevents',
  recognizes: (_sent, headers) => isBinaryCloudEvent(headers),
  read: ({ data }, headers) => {
    if (headers['ce-datacontenttype'] !== undefined)
      throw new ServiceError('invalid', 'ce-datacontenttype must not be sent; use Content-Type')
    return [parseDraft({ ...readContext(headers), data })]
  },
}

/** Returns whether the headers contain the attributes of a CloudEvent. The body then contains only its data. */
export const isBinaryCloudEvent = (headers: RequestHeaders): boolean => headers['ce-specversion'] !== undefined

const isCloudEvents = (headers: RequestHeaders): boolean =>
  (headers['content-type'] ?? '').toLowerCase().startsWith('application/cloudevents')

const parseDraft = (sent: JsonObject): EventDraft => {
  const { id, source, type, subject, time, data, data_base64: encoded } = parseFields(Context, sent)
  const bytes = decodeData(encoded)
  const content = isJsonObject(data) ? data : (bytes ?? {})
  const generic = parseGeneric({ ...content, type })
  return {
    ...generic,
    source,
    externalId: id,
    identity: [source, id],
    dedupKey: firstNonBlank(generic.dedupKey, subject, id),
    resource: firstNonBlank(generic.resource, subject),
    title: firstNonBlank(findTitle(content), type),
    body: firstNonBlank(generic.body, typeof data === 'string' ? data : null),
    labels: { type, ...(subject && { subject }), ...generic.labels },
    occurredAt: time ?? generic.occurredAt,
    // The data is stored decoded, so that the installation id is found in events that this product sent.
    raw: bytes ? { ...sent, data_base64: undefined, data: bytes } : sent,
  }
}

const findTitle = (content: JsonObject): string => parseGeneric(content).title

/** Decodes base64 data; undefined if it is not a JSON object. */
const decodeData = (encoded: string | null | undefined): JsonObject | undefined => {
  try {
    const value: unknown = JSON.parse(Buffer.from(encoded ?? '', 'base64').toString())
    requirePlainJson(value)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Returns the attributes in the headers. Their values are percent-encoded and may be quoted. */
const readContext = (headers: RequestHeaders): JsonObject =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      name.startsWith('ce-') ? [[name.slice(3), decodeHeader(value)]] : [],
    ),
  )

const decodeHeader = (value: string): string => {
  const unquoted = /^"(?<inner>.*)"$/s.exec(value)?.groups?.inner?.replace(/\\(.)/gs, '$1') ?? value
  try {
    return decodeURIComponent(unquoted)
  } catch {
    return unquoted
  }
}
