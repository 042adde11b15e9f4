import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import { startOtlpCollector } from '../../testing/otlp-collector.ts'
import { openTracing } from './tracing.ts'

const parent = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'vendor=1' }
const unsampled = { traceparent: parent.traceparent.replace(/01$/, '00') }

const open = (exporterUrl: string | undefined, lines: string[] = []) =>
  openTracing({
    exporterUrl,
    instance: 'a1',
    version: '1.2.3',
    log: pino({}, { write: (line) => void lines.push(line) }),
    registry: new Registry(),
  })

describe('with a collector', () => {
  it('sends nested spans of several services as one trace when it ends', async () => {
    await using collector = await startOtlpCollector()
    const tracing = await open(collector.url)
    const request = tracing.tracer('gateway').start('GET /api/v1/overview', 'server', parent, { 'http.route': '/x' })
    const call = tracing.tracer('query').start('query.overview', 'server', request.trace)
    call.end(new ServiceError('timeout', 'SELECT secret FROM somewhere took too long'))
    request.set({ 'http.response.status_code': 504 })
    request.end()
    await tracing[Symbol.asyncDispose]()

    expect(collector.problems).toEqual([])
    const [inner, outer] = collector.spans
    expect(outer).toMatchObject({
      service: 'gateway',
      traceId: '0af7651916cd43dd8448eb211c80319c',
      parentSpanId: 'b7ad6b7169203331',
      kind: 2,
      failed: false,
      attributes: { 'http.route': '/x', 'http.response.status_code': 504 },
    })
    expect(inner).toMatchObject({
      service: 'query',
      traceId: outer?.traceId,
      parentSpanId: outer?.spanId,
      failed: true,
    })
    expect(inner?.attributes).toEqual({ 'error.type': 'timeout' })
    expect(JSON.stringify(collector.spans)).not.toContain('SELECT')
  })

  it('creates no span for a trace that its caller does not record, and propagates that', async () => {
    await using collector = await startOtlpCollector()
    const tracing = await open(collector.url)
    const span = tracing.tracer('gateway').start('GET /', 'server', unsampled)
    expect(span.trace?.traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[\da-f]{16}-00$/)
    span.end()
    await tracing[Symbol.asyncDispose]()
    expect(collector.requests).toBe(0)
  })

  it('starts a new trace for a malformed header, and keeps the tracestate of a valid one', async () => {
    await using collector = await startOtlpCollector()
    await using tracing = await open(collector.url)
    const tracer = tracing.tracer('gateway')
    expect(tracer.start('a', 'server', { traceparent: 'nonsense' }).trace?.traceparent).toMatch(
      /^00-[\da-f]{32}-[\da-f]{16}-01$/,
    )
    expect(tracer.start('b', 'server', parent).trace?.tracestate).toBe('vendor=1')
  })
})

describe('without a collector', () => {
  it('propagates the trace unchanged', async () => {
    await using tracing = await open(undefined)
    const span = tracing.tracer('gateway').start('a', 'server', parent)
    expect(span.trace).toBe(parent)
    expect(tracing.tracer('gateway').start('a', 'server', undefined).trace).toBeUndefined()
  })

  it.each(['collector:4318/v1/traces', '/v1/traces', 'ftp://collector/v1/traces'])(
    'logs that %s is not a URL',
    async (url) => {
      const lines: string[] = []
      await using tracing = await open(url, lines)
      expect(tracing.tracer('gateway').start('a', 'server', parent).trace).toBe(parent)
      expect(lines.join('')).toContain('SVC_OTEL_EXPORTER_URL')
    },
  )
})

describe('modules of OpenTelemetry', () => {
  const loaded = async (exporterUrl: string): Promise<string[]> => {
    const record = `import { registerHooks } from 'node:module'
      registerHooks({ load(url, context, next) { process.stderr.write(url + '\\n'); return next(url, context) } })`
    const open = `const { openTelemetry } = await import('./services/shared/telemetry/open.ts')
      const facts = { instance: 'a', version: '1', services: [], secretNames: [] }
      const telemetry = await openTelemetry({ SVC_OTEL_EXPORTER_URL: '${exporterUrl}' }, facts)
      telemetry.of('query').tracer.start('a', 'server', undefined).end
      await telemetry[Symbol.asyncDispose]()`
    const flags = [
      '--import',
      `data:text/javascript,${encodeURIComponent(record)}`,
      '--input-type=module',
      '--eval',
      open,
    ]
    const { stderr } = await promisify(execFile)(process.execPath, flags)
    return stderr.split('\n')
  }
  // The metrics library loads the API package, which creates no spans and opens no connections.
  const isOpenTelemetry = (url: string) => /\/@opentelemetry\/(?!api\/)/.test(url)

  it('are loaded when there is a collector', async () => {
    expect((await loaded('http://127.0.0.1:9/v1/traces')).some(isOpenTelemetry)).toBe(true)
  })

  it.each(['', 'no url'])('are not loaded for %j', async (url) => {
    const urls = await loaded(url)
    expect(urls.some((loadedUrl) => loadedUrl.endsWith('/telemetry/tracing.ts'))).toBe(true)
    expect(urls.filter(isOpenTelemetry)).toEqual([])
  })
})
