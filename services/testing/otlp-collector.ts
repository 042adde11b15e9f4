import { type IncomingMessage, createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { z } from 'zod'
import { listenOnLoopback } from '#shared/net/testing/loopback-server.ts'

const scalars = [
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ intValue: z.union([z.number().int(), z.string().regex(/^-?\d+$/)]) }),
  z.strictObject({ doubleValue: z.number() }),
  z.strictObject({ boolValue: z.boolean() }),
] as const
const ArrayValue = z.strictObject({ arrayValue: z.strictObject({ values: z.array(z.union(scalars)) }) })

const Attribute = z.strictObject({ key: z.string().min(1), value: z.union([...scalars, ArrayValue]) })

const nanoseconds = z.string().regex(/^\d{19}$/)

const OtlpSpan = z
  .strictObject({
    traceId: z.string().regex(/^[\da-f]{32}$/),
    spanId: z.string().regex(/^[\da-f]{16}$/),
    parentSpanId: z
      .string()
      .regex(/^[\da-f]{16}$/)
      .optional(),
    traceState: z.string().optional(),
    name: z.string().min(1),
    kind: z.number().int().min(1).max(5),
    startTimeUnixNano: nanoseconds,
    endTimeUnixNano: nanoseconds,
    attributes: z.array(Attribute),
    droppedAttributesCount: z.literal(0),
    events: z.array(z.unknown()),
    droppedEventsCount: z.literal(0),
    links: z.array(z.unknown()),
    droppedLinksCount: z.literal(0),
    flags: z.number().int().optional(),
    status: z.strictObject({ code: z.number().int().min(0).max(2), message: z.string().optional() }),
  })
  .refine((span) => BigInt(span.startTimeUnixNano) <= BigInt(span.endTimeUnixNano), 'ends before it starts')

/** The JSON body of `POST /v1/traces`. Unknown fields are rejected. */
const TracesRequest = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes: z.array(Attribute), droppedAttributesCount: z.literal(0) }),
      scopeSpans: z.array(
        z.strictObject({
          scope: z.strictObject({ name: z.string(), version: z.string().optional() }),
          spans: z.array(OtlpSpan).min(1),
          schemaUrl: z.string().optional(),
        }),
      ),
      schemaUrl: z.string().optional(),
    }),
  ),
})

/** A received span. */
export interface CollectedSpan {
  service: string
  name: string
  traceId: string
  spanId: string
  parentSpanId: string | undefined
  /** The span kind: 1 is internal, 2 is server, 3 is client. */
  kind: number
  failed: boolean
  attributes: Record<string, unknown>
}

export interface OtlpCollector extends AsyncDisposable {
  /** The value of `SVC_OTEL_EXPORTER_URL`. */
  readonly url: string
  readonly spans: readonly CollectedSpan[]
  /** Why requests were rejected. */
  readonly problems: readonly string[]
  readonly requests: number
}

/** Starts an OTLP/HTTP collector that rejects requests with unknown or missing fields. */
export const startOtlpCollector = async (): Promise<OtlpCollector> => {
  const spans: CollectedSpan[] = []
  const problems: string[] = []
  let requests = 0
  const server = createServer((request, response) => {
    requests++
    parseTraces(request)
      .then((taken) => {
        spans.push(...taken)
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
      })
      .catch((error: unknown) => {
        problems.push(error instanceof Error ? error.message : String(error))
        response.writeHead(400).end()
      })
  })
  const { origin, stop } = await listenOnLoopback(server)
  return {
    url: `${origin}/v1/traces`,
    spans,
    problems,
    get requests() {
      return requests
    },
    [Symbol.asyncDispose]: stop,
  }
}

const parseTraces = async (request: IncomingMessage): Promise<CollectedSpan[]> => {
  if (request.method !== 'POST' || request.url !== '/v1/traces')
    throw new Error(`unexpected request "${request.method} ${request.url}"; expected POST /v1/traces`)
  if (request.headers['content-type'] !== 'application/json')
    throw new Error(`unexpected content type "${request.headers['content-type']}"`)
  const body = TracesRequest.parse(await json(request))
  return body.resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(flattenAttributes(resource.attributes)['service.name'])
    return scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        service,
        name: span.name,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId,
        kind: span.kind,
        failed: span.status.code === 2,
        attributes: flattenAttributes(span.attributes),
      })),
    )
  })
}

const flattenAttributes = (attributes: z.output<typeof Attribute>[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, toPlainValue(value)]))

const toPlainValue = (value: z.output<typeof Attribute>['value']): unknown =>
  'arrayValue' in value ? value.arrayValue.values.map((each) => Object.values(each)[0]) : Object.values(value)[0]
