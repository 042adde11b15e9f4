import { Writable } from 'node:stream'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import type { SpanKind, Telemetry } from '../../telemetry/telemetry.ts'

/** A recorded span. Its id is also the `traceparent` of its trace context. */
export interface RecordedSpan {
  id: string
  name: string
  kind: SpanKind
  parent: string | undefined
  ended: 'ok' | 'failed' | undefined
}

/** Returns telemetry that records everything it receives. */
export const recordTelemetry = (): {
  telemetry: Telemetry
  spans: RecordedSpan[]
  logged: Record<string, unknown>[]
} => {
  const spans: RecordedSpan[] = []
  const logged: Record<string, unknown>[] = []
  const destination = new Writable({
    write(chunk, _encoding, done) {
      logged.push(JSON.parse(String(chunk)))
      done()
    },
  })
  const telemetry: Telemetry = {
    log: pino({}, destination),
    metrics: new Registry(),
    tracer: {
      isExporting: true,
      start(name, kind, parent) {
        const span: RecordedSpan = {
          id: `${name} ${kind} ${spans.length}`,
          name,
          kind,
          parent: parent?.traceparent,
          ended: undefined,
        }
        spans.push(span)
        return {
          trace: { traceparent: span.id },
          set: () => {},
          end: (error) => void (span.ended = error === undefined ? 'ok' : 'failed'),
        }
      },
    },
  }
  return { telemetry, spans, logged }
}
