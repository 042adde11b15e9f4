import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import type { Tool } from '#shared/tools/tool.ts'

/** The kinds of input that a question accepts. */
const inputKinds = ['single_choice', 'multi_choice', 'confirm', 'free_text', 'rating'] as const

export const askUser: Tool = {
  name: 'ask_user',
  title: 'Ask the user',
  description:
    'Sends one question to the user and waits for the reply. Use it only if no tool has the answer and the result depends on it.',
  input: z.strictObject({
    question: z.string().min(1).max(500).describe('The question'),
    kind: z.enum(inputKinds).default('free_text').describe('Kind of input'),
    options: z.array(z.string().min(1).max(200)).min(2).max(10).optional().describe('Options to choose from'),
  }),
  feature: null,
  kind: 'ask',
  core: true,
  // Never called: the run ends with the question, and the reply starts the next run.
  run: async () => {
    throw new ServiceError('invalid', 'only a person can answer this question')
  },
}
