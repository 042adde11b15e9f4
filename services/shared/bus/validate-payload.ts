import type { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { decodeJson, encodeJson } from './body.ts'

const maxProblems = 10

/** Parses the input of a request. Throws `invalid` with up to ten mismatches with the schema. */
export const parseInput = <S extends z.ZodType>(schema: S, body: Uint8Array): z.output<S> => {
  const parsed = schema.safeParse(decodeRequestBody(body))
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues
    .slice(0, maxProblems)
    .map(({ path, message }) => ({ parameter: path.map(String).join('.'), message }))
  const sentences = problems.map(({ parameter, message }) => (parameter === '' ? message : `${parameter}: ${message}`))
  throw new ServiceError('invalid', sentences.join('; '), { details: { parameter: problems[0]?.parameter, problems } })
}

/** Validates and encodes the result of a handler. A mismatch with the contract is a defect of the service. */
export const encodeOutput = (schema: z.ZodType, value: unknown): Uint8Array => {
  const parsed = schema.safeParse(value)
  if (parsed.success) return encodeJson(parsed.data)
  throw new Error('the result of the handler does not match its contract', { cause: parsed.error })
}

/** Like `encodeOutput`, but throws if the result does not fit into one frame. */
export const encodeFrame = (schema: z.ZodType, value: unknown, frameBytes: number): Uint8Array => {
  const body = encodeOutput(schema, value)
  if (body.byteLength <= frameBytes) return body
  throw new ServiceError('too-large', `response part too large: ${body.byteLength} bytes; the maximum is ${frameBytes}`)
}

const decodeRequestBody = (body: Uint8Array): unknown => {
  try {
    return decodeJson(body)
  } catch {
    throw new ServiceError('invalid', 'invalid request: the body is not JSON')
  }
}
