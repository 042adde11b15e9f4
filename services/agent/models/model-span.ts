import type { W3cTraceContext } from '#proto/call.ts'
import type { Span, Tracer } from '#shared/telemetry/telemetry.ts'
import { startChildSpan } from '#shared/telemetry/tracing.ts'
import type { ChosenModel } from './model-choice.ts'

/** The attributes of a model request that every span about it has. */
export const modelAttributes = ({ provider }: Pick<ChosenModel, 'provider'>, model: string) => ({
  'gen_ai.provider.name': provider,
  'gen_ai.request.model': model,
})

/**
 * Starts the span of a model request according to the OpenTelemetry conventions for generative AI. It contains no text
 * of messages. `model` is the id in the request, which may be the fallback.
 */
export const startModelSpan = (
  tracer: Tracer,
  chosen: Pick<ChosenModel, 'provider' | 'client'>,
  model: string,
  trace: W3cTraceContext | undefined,
): Span =>
  startChildSpan(tracer, `chat ${model}`, 'client', trace, {
    'gen_ai.operation.name': 'chat',
    ...modelAttributes(chosen, model),
    ...serverAttributes(chosen.client.baseURL),
  })

const serverAttributes = (address: string): Record<string, string | number> => {
  const { hostname, port, protocol } = new URL(address)
  return { 'server.address': hostname, 'server.port': Number(port) || (protocol === 'https:' ? 443 : 80) }
}

/** What a model reported about its response; undefined for values that it did not report. */
interface ModelResponse {
  model?: string | null | undefined
  inputTokens?: number | null | undefined
  outputTokens?: number | null | undefined
  finishReason?: string | null | undefined
}

/** Ends the span of a model request. */
export const endModelSpan = (span: Span, response: ModelResponse, error?: unknown): void => {
  const { model, inputTokens, outputTokens, finishReason } = response
  span.set({
    ...(model && { 'gen_ai.response.model': model }),
    ...(typeof inputTokens === 'number' && { 'gen_ai.usage.input_tokens': inputTokens }),
    ...(typeof outputTokens === 'number' && { 'gen_ai.usage.output_tokens': outputTokens }),
    ...(finishReason && { 'gen_ai.response.finish_reasons': [finishReason] }),
  })
  span.end(error)
}
