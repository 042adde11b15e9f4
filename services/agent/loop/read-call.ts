import type { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { sentenceOf } from '#shared/text/sentence-of.ts'
import type { AgentTool } from '../tool.ts'
import type { RawCall } from './heard.ts'
import type { Toolbox } from './toolbox.ts'

/** A call that can be carried out. */
export interface ReadCall {
  id: string
  tool: AgentTool
  input: Record<string, unknown>
}

/** What a model meant by a call; throws `ServiceError` with what is wrong when it cannot be meant. */
export const readCall = ({ id, name, argumentsText }: RawCall, toolbox: Toolbox): ReadCall => {
  const tool = toolbox.take(name)
  const parsed = tool.input.safeParse(objectIn(argumentsText), { error: sentenceOf })
  if (parsed.success) return { id, tool, input: parsed.data }
  throw new ServiceError('invalid', `the arguments do not fit: ${problemsOf(parsed.error)}`)
}

/** Models write nothing at all where a tool needs no arguments. */
const objectIn = (text: string): unknown => {
  try {
    return JSON.parse(text.trim() === '' ? '{}' : text)
  } catch {
    throw new ServiceError('invalid', 'the arguments are not JSON')
  }
}

const problemsOf = (error: z.ZodError): string =>
  error.issues.map(({ path, message }) => `${path.join('.')} ${message}`.trim()).join('; ')
